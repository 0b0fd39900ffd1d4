#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

/// Where tensors live. A device owns memory and the ways into and out of it; computing on it is the
/// business of kernels, which name their device.
namespace hone {

class Device;

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

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  /// Whether the host may read and write its memory through pointers.
  virtual bool host_accessible() const = 0;
  /// Memory of at least `size_bytes`, aligned to 64 bytes, with undefined contents.
  /// Throws `UserError` when there is not enough.
  virtual StoragePointer allocate(std::size_t size_bytes) = 0;
  /// Copies between host memory and device memory, and within the device.
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) = 0;
};

/// The host: memory by the system, huge pages for large blocks.
Device& cpu();

}  // namespace hone
