#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "hone/base/file.h"
#include "hone/tensor/device.h"
#include "hone/tensor/dtype.h"
#include "hone/tensor/shape.h"
#include "hone/tensor/tensor.h"

/// Tensors in memory-mapped files: storages that view a mapping, and checks of tensor descriptions in files.
namespace hone {

/// The bytes of a whole file and the owner of their memory; null if the caller owns it.
struct SharedBytes {
  std::string_view text;
  std::shared_ptr<const void> owner;
};

/// Maps a file. Throws `UserError` with the path.
SharedBytes map_file(const fs::path& path);

/// Returns a host storage for `bytes`, part of `file`, with elements of `dtype`. It is a view that keeps the owner
/// alive, or a copy if the address is not a multiple of the element size. Views are read-only: writing to one crashes
/// the program. They are aligned to the element, not to 64 bytes. Throws `UserError` if a boolean is neither 0 nor 1,
/// which would be undefined in C++.
StoragePointer storage_in_file(const SharedBytes& file, std::string_view bytes, DType dtype);

/// Releases the resident pages of a contiguous, file-mapped tensor; they are read again on access. For callers that
/// have made a copy with another layout. No effect on other tensors.
void release_pages(const Tensor& tensor);

/// Returns how much reading a contiguous tensor would add to resident memory: the size of its file-mapped pages that
/// are not resident. 0 for other tensors.
std::size_t unread_bytes(const Tensor& tensor);

/// Throws `UserError` when `dtype` is boolean and a byte of the host storage is neither 0 nor 1.
void check_booleans(const Storage& storage, DType dtype);

/// Returns the size in bytes of a contiguous tensor, or nothing if an extent is negative or the strides would overflow
/// 63 bits. For the latter, extents of 0 count as 1, because the strides of earlier axes are computed the same way.
std::optional<std::uint64_t> checked_size_bytes(DType dtype, const Sizes& sizes);

}  // namespace hone
