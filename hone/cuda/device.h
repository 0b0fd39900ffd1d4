#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cuda/driver.h"
#include "hone/tensor/device.h"

namespace hone::cuda {

/// Properties of a GPU.
struct GpuInfo {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;
  int shared_bytes_per_block = 0;
};

/// The arithmetic of products of fp32 operands. TF32 rounds operands to 10 mantissa bits. Sums are fp32.
enum class Arithmetic { fp32, tf32 };
std::string_view to_string(Arithmetic arithmetic);

/// A GPU as a device, with one stream as its queue. Memory is allocated in stream order, so freed memory can be reused
/// at once. Like executables, it is for one thread at a time.
class CudaDevice : public Device {
 public:
  virtual const GpuInfo& info() const = 0;
  /// Returns the architecture that kernels are compiled for: "sm_90a".
  virtual const std::string& architecture() const = 0;
  virtual StreamHandle stream() = 0;
  /// Makes its context current in the calling thread, as calls of the driver require.
  virtual void enter() = 0;
  /// Begins a capture: work put on the queue from here on is recorded, not executed, as a graph that can be launched
  /// repeatedly. Nothing may wait or allocate before `end_capture`, which returns null if the capture failed.
  virtual void begin_capture() = 0;
  virtual GraphRunHandle end_capture() = 0;
  /// Returns the bytes that its tensors occupy now, or the most since `reset_peak_held`.
  virtual std::size_t held_bytes() = 0;
  virtual std::size_t peak_held_bytes() = 0;
  virtual void reset_peak_held() = 0;
  /// Prepared graphs keep the arithmetic that they were prepared with.
  virtual Arithmetic arithmetic() const = 0;
  virtual void set_arithmetic(Arithmetic arithmetic) = 0;
};

/// Returns the GPUs of this machine; none if there is no driver.
std::vector<GpuInfo> gpus();

/// Returns the GPU with this index, opened once until the process ends. Throws `UserError` if there is none, or if the
/// kernels do not support it (compute capability below 8.0, no stream-ordered allocation).
CudaDevice& device(int index);

/// Measures the time between points of a device's queue.
class Stopwatch {
 public:
  explicit Stopwatch(CudaDevice& device);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start();
  /// Waits for the queue. Returns the time since `start`.
  double stop_seconds();

 private:
  CudaDevice& device_;
  EventHandle begin_ = nullptr, end_ = nullptr;
};

}  // namespace hone::cuda
