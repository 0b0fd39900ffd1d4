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

/// Tensors inside of files: storages that view a mapping, and the checks that descriptions read
/// from a file need before a tensor may be made of them.
namespace hone {

/// The bytes of a whole file and what keeps them there: a mapping, or nothing when the caller does.
struct SharedBytes {
  std::string_view text;
  std::shared_ptr<const void> owner;
};

/// Maps a file. Throws `UserError` with the path.
SharedBytes map_file(const fs::path& path);

/// `bytes`, which lie in those of `file`, as a storage on the host for elements of `dtype`. A
/// view that keeps their owner alive, or a copy where the address is no multiple of the element
/// size. A view is read-only memory: writing through it ends the program. It is aligned to the
/// element, not to 64 bytes. Throws `UserError` when a boolean is neither 0 nor 1 (its value would
/// have no meaning in C++).
StoragePointer storage_in_file(const SharedBytes& file, std::string_view bytes, DType dtype);

/// Gives the memory that the elements of a dense tensor take back to the system where they lie in a file, which is read
/// again when they are: for who has made a copy of them in another order. Elsewhere nothing happens.
void release_pages(const Tensor& tensor);

/// What reading a dense tensor adds to the memory of this process: those of its pages, where it lies in a file, that were not
/// read yet or were released. Elsewhere 0.
std::size_t unread_bytes(const Tensor& tensor);

/// Throws `UserError` when `dtype` is boolean and a byte of the host storage is neither 0 nor 1.
void check_booleans(const Storage& storage, DType dtype);

/// Bytes of a contiguous tensor, or nothing when an extent is negative or the strides of such a
/// tensor would not fit 63 bits (extents of 0 count as 1 there, since later axes have strides all
/// the same).
std::optional<std::uint64_t> checked_size_bytes(DType dtype, const Sizes& sizes);

}  // namespace hone
