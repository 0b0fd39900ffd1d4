#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Devices that store tensors. A device allocates memory and copies data; computation is left to kernels, which name
/// their device.
namespace hone {

class Device;
class Tensor;

/// Returns a unique number.
std::uint64_t new_version();

/// A block of memory on one device, freed with the last tensor that views it.
struct Storage {
  Device* device = nullptr;
  std::byte* pointer = nullptr;  ///< address on `device`, perhaps not accessible to the host
  std::size_t size_bytes = 0;
  bool read_only = false;  ///< mapped from a file; writers must copy it first
  bool mapped = false;     ///< pages of a file, which can be read again (see `release_pages`)
  std::uint64_t version =
      new_version();  ///< of a parameter's contents: see `ParameterStore::writable`
};
using StoragePointer = std::shared_ptr<Storage>;

/// A device has an in-order queue (a stream, a thread) for kernels, copies and fills. So memory that a tensor freed can
/// be reused at once. Host operations are complete when the call returns.
class Device {
 public:
  virtual ~Device() = default;
  /// Returns the name that kernels use: "cpu".
  virtual std::string_view kind() const = 0;
  /// Returns its index among devices of this kind, from 0.
  virtual int index() const = 0;
  /// Returns properties that affect results besides the kind: "NVIDIA H100 80GB HBM3, products in fp32"; "" for the
  /// CPU.
  virtual std::string description() const = 0;
  /// Returns whether the host may access its memory through pointers.
  virtual bool host_accessible() const = 0;
  /// Allocates at least `size_bytes`, aligned to 64 bytes, with undefined contents. Throws `UserError` if memory is
  /// exhausted.
  virtual StoragePointer allocate(std::size_t size_bytes) = 0;
  /// Copies between host and device memory, and within the device. The source of an upload may change after it returns.
  /// A download waits for all earlier work, and rethrows its errors.
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) = 0;
  /// Copies a strided view into a contiguous tensor of the same type and sizes, both on this device.
  virtual void copy_strided(const Tensor& from, const Tensor& to) = 0;
  /// Returns the free memory of the device; nothing for the CPU, which shares its memory.
  virtual std::optional<std::size_t> free_bytes() = 0;
  /// Waits until the queue is empty. Rethrows errors of its work, once.
  virtual void wait() = 0;
};

/// Returns "cpu:0".
std::string to_string(const Device& device);

/// Returns the CPU device, which uses huge pages for large blocks.
Device& cpu();

}  // namespace hone
