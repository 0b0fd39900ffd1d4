#pragma once

#include <map>

#include "hone/runtime/library.h"

/// A second device without hardware: what a graph does on it shows whether the code above the
/// kernels respects devices.
///
///     FakeDevice device;
///     Interpreter interpreter(graph, fake_library(), pool, device);
///     interpreter.run(inputs, parameters_on_device);   // inputs are uploaded
namespace hone::testing {

/// Memory of its own that the host can reach through no pointer: its pages are closed except while
/// one of its copies or kernels runs, so a stray access ends the program. Fresh memory holds NaN.
/// For one thread. Must outlive its tensors.
class FakeDevice final : public Device {
 public:
  FakeDevice();
  ~FakeDevice() override;

  std::string_view name() const override { return "fake"; }
  bool host_accessible() const override { return false; }
  StoragePointer allocate(std::size_t size_bytes) override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override;

  /// Bytes of all living storages.
  std::size_t used_bytes() const { return used_bytes_; }

  /// Opens the memory while it lives.
  class Open {
   public:
    explicit Open(FakeDevice& device);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    FakeDevice& device_;
  };

 private:
  void protect(int protection);

  std::byte* arena_ = nullptr;
  std::size_t next_ = 0;
  std::size_t used_bytes_ = 0;
  int openings_ = 0;
  std::multimap<std::size_t, std::byte*> free_;  // by size
};

/// The builtin operations and formats with one kernel per operation on the fake device, which runs
/// the operation's reference inside the device's memory.
const Library& fake_library();

}  // namespace hone::testing
