#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Where tensors live. A device owns memory and the ways into and out of it; computing on it is the
/// business of kernels, which name their device.
namespace hone {

class Device;
class Tensor;

/// A number that no other call gives.
std::uint64_t new_version();

/// A block of memory of one device, freed when the last tensor that views it goes.
struct Storage {
  Device* device = nullptr;
  std::byte* pointer = nullptr;  ///< an address on `device`, not necessarily one the host may touch
  std::size_t size_bytes = 0;
  bool read_only = false;  ///< mapped from a file: writers copy first
  bool mapped = false;  ///< pages of a file, which the system can read again (see `release_pages`)
  std::uint64_t version =
      new_version();  ///< of the contents of parameters: see `ParameterStore::writable`
};
using StoragePointer = std::shared_ptr<Storage>;

/// A device has a queue: kernels, copies and what fills memory put their work on it, each device in a way of its own (a
/// stream, a thread), and it is done in the order in which it came. So memory that a tensor gave back may be handed out at
/// once. What the host does is done when the call returns.
class Device {
 public:
  virtual ~Device() = default;
  /// What kernels name it by: "cpu".
  virtual std::string_view kind() const = 0;
  /// Which of its kind on this machine, from 0.
  virtual int index() const = 0;
  /// What results on it depend on besides its kind: "NVIDIA H100 80GB HBM3, products in fp32"; "" of the host.
  virtual std::string description() const = 0;
  /// Whether the host may read and write its memory through pointers.
  virtual bool host_accessible() const = 0;
  /// Memory of at least `size_bytes`, aligned to 64 bytes, with undefined contents.
  /// Throws `UserError` when there is not enough.
  virtual StoragePointer allocate(std::size_t size_bytes) = 0;
  /// Copies between host memory and device memory, and within the device. `from` of an upload may change when it returns;
  /// a download waits for all work before it, and throws what that threw.
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) = 0;
  /// Copies the elements of a strided view into a dense tensor of the same type and sizes, both of this device.
  virtual void copy_strided(const Tensor& from, const Tensor& to) = 0;
  /// What is free of a memory of its own; nothing of the host, which shares its with everything else.
  virtual std::optional<std::size_t> free_bytes() = 0;
  /// Until all work on the queue is done. Throws what it threw, once.
  virtual void wait() = 0;
};

/// "cpu:0"
std::string to_string(const Device& device);

/// The host: memory by the system, huge pages for large blocks.
Device& cpu();

}  // namespace hone
