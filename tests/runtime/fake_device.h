#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "hone/runtime/library.h"

/// A second device without hardware. Running a graph on it shows whether the code above the kernels respects devices.
///
///     FakeDevice device;
///     Interpreter interpreter(graph, fake_library(), pool, device);
///     interpreter.run(inputs, parameters_on_device);   // inputs are uploaded
namespace hone::testing {

/// A device whose memory the host cannot access. Pages are protected except while the device's thread works through the
/// queue, so a stray access ends the program. Fresh memory contains NaN. The thread executes queued work some time
/// later. The device must outlive its tensors.
class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int index = 0);
  ~FakeDevice() override;

  std::string_view kind() const override { return "fake"; }
  int index() const override { return index_; }
  std::string description() const override { return "no hardware"; }
  bool host_accessible() const override { return false; }
  StoragePointer allocate(std::size_t size_bytes) override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override;
  void copy_strided(const Tensor& from, const Tensor& to) override;
  std::optional<std::size_t> free_bytes() override;
  void wait() override;

  /// Puts work on the queue.
  void put(std::function<void()> work);

  /// Returns the bytes of all living storages.
  std::size_t used_bytes() const { return used_bytes_; }
  /// Returns the largest `used_bytes()` so far.
  std::size_t peak_bytes() const { return peak_bytes_; }

 private:
  void protect(int protection);
  void work_through();

  int index_ = 0;
  std::byte* arena_ = nullptr;
  std::size_t next_ = 0;
  std::size_t used_bytes_ = 0, peak_bytes_ = 0;
  std::multimap<std::size_t, std::byte*> free_;  // by size

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool works_ = false, ends_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

/// Returns the builtin operations and formats. Each operation has one kernel on the fake device, which runs the
/// reference on the device's memory. The quantizer of `integer` has one more.
const Library& fake_library();

}  // namespace hone::testing
