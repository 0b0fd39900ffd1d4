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

/// What products of fp32 operands are computed in: TF32 keeps 10 bits behind the leading one of operands. Sums are fp32.
enum class Arithmetic { fp32, tf32 };
std::string_view to_string(Arithmetic arithmetic);

/// A GPU as a device, with one stream as its queue. Memory is allocated in stream order, so what a tensor gave back
/// may be handed out at once. For one thread at a time, as executables are.
class CudaDevice : public Device {
 public:
  virtual const GpuInfo& info() const = 0;
  /// "sm_90a": what kernels are compiled for.
  virtual const std::string& architecture() const = 0;
  virtual StreamHandle stream() = 0;
  /// Makes its context the calling thread's, before what asks the driver for something.
  virtual void enter() = 0;
  /// Work that is put on the queue from here on is kept instead of done, as one thing that can be started again and again.
  /// Nothing may wait or ask for memory before `end_capture`, which gives null where that was tried.
  virtual void begin_capture() = 0;
  virtual GraphRunHandle end_capture() = 0;
  /// What its tensors take, now; and the most that they took since `begin_most_held`.
  virtual std::size_t held_bytes() = 0;
  virtual std::size_t most_held_bytes() = 0;
  virtual void begin_most_held() = 0;
  /// Graphs keep that which they were made ready with.
  virtual Arithmetic arithmetic() const = 0;
  virtual void set_arithmetic(Arithmetic arithmetic) = 0;
};

/// The GPUs that there are; none where there is no driver.
std::vector<GpuInfo> gpus();

/// The GPU of that index, opened once and for the life of the process. Throws `UserError` where there is none, or it is too
/// old for the kernels (compute capability 8.0).
CudaDevice& device(int index);

/// Time between points of a device's queue.
class Stopwatch {
 public:
  explicit Stopwatch(CudaDevice& device);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start();
  /// Waits for the queue.
  double stop_seconds();

 private:
  CudaDevice& device_;
  EventHandle begin_ = nullptr, end_ = nullptr;
};

}  // namespace hone::cuda
