#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "hone/base/file.h"
#include "hone/tensor/mapped.h"
#include "hone/tensor/tensor.h"

/// The safetensors format: 8 bytes of header length, a JSON header, then the elements without gaps.
///
///     Safetensors file = read_safetensors("model.safetensors");
///     write_safetensors("copy.safetensors", file.tensors, file.metadata);
namespace hone {

struct Safetensors {
  TensorMap tensors;
  std::map<std::string, std::string>
      metadata;  ///< "__metadata__" in the header; {"format": "pt"} for Hugging Face
};

/// Maps the file; the tensors view the mapping and keep it alive, so loading takes no memory. They are read-only:
/// writing to one crashes the program (`contiguous_copy` first). Unaligned tensors are copied. The file must not shrink
/// in place while tensors view it; replacing it by renaming, as `write_file` does, is safe. Throws `UserError` with the
/// path, the expected and the actual value for anything but a complete, valid file.
Safetensors read_safetensors(const fs::path& path);
/// The same for a file in memory, without a path in messages.
Safetensors read_safetensors(const SharedBytes& file);

/// Writes a file completely or not at all. Tensors whose size is a multiple of 64 bytes come first and start at cache
/// lines. All others follow by decreasing element size and name, so that all are aligned to their elements. Strided
/// tensors are written contiguously. Throws `UserError` if the file cannot be written or a tensor has the reserved name
/// "__metadata__". `float8`: names of byte tensors that contain fp8 numbers (E4M3), for which there is no `DType`.
void write_safetensors(const fs::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const std::set<std::string>& float8 = {});

/// Moves tensors into a deleted temporary file. Kernels that repack weights can then release the original pages instead
/// of holding both copies in memory. Throws `UserError` if it cannot be written.
TensorMap in_unlinked_file(const TensorMap& tensors);

}  // namespace hone
