#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "hone/runtime/library.h"

/// A second device without hardware: what a graph does on it shows whether the code above the
/// kernels respects devices.
///
///     FakeDevice device;
///     Interpreter interpreter(graph, fake_library(), pool, device);
///     interpreter.run(inputs, parameters_on_device);   // inputs are uploaded
namespace hone::testing {

/// Memory of its own that the host can reach through no pointer: its pages are closed except while
/// its thread works through the queue, so a stray access ends the program. Fresh memory holds NaN. What is put on the
/// queue is done by that thread, some time later. Must outlive its tensors.
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

  /// Bytes of all living storages.
  std::size_t used_bytes() const { return used_bytes_; }
  /// The most of them at a time.
  std::size_t peak_bytes() const { return peak_bytes_; }

 private:
  void protect(int protection);
  void work_through();

  int index_ = 0;
  std::byte* arena_ = nullptr;
  std::size_t next_ = 0;
  std::size_t used_bytes_ = 0, peak_bytes_ = 0;
  std::multimap<std::size_t, std::byte*> free_;  // by size

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool works_ = false, ends_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

/// The builtin operations and formats with one kernel per operation on the fake device, which runs
/// the operation's reference inside the device's memory, and one for the quantizer of `integer` alone.
const Library& fake_library();

}  // namespace hone::testing
