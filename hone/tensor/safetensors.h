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
      metadata;  ///< the header's "__metadata__", {"format": "pt"} for Hugging Face
};

/// Maps the file; the tensors view the mapping and keep it alive, so loading costs no memory. They
/// are read-only: writing to one ends the program (`contiguous_copy` first). A tensor whose
/// elements are not aligned is copied. The file must not shrink in place while tensors view it; a
/// file replaced by renaming, as `write_file` does, is fine. Throws `UserError` with the path, what
/// was expected and what came for anything that is not a whole, valid file.
Safetensors read_safetensors(const fs::path& path);
/// The same of a file in memory, without a path in the messages.
Safetensors read_safetensors(const SharedBytes& file);

/// Writes tensors of a multiple of 64 bytes first, which begin at a line of the cache, and all others behind them, by falling
/// element size and names in order, so that all are aligned to their elements. The file appears whole or not at all. Strided
/// tensors are written contiguous. Throws `UserError` when the file cannot be written or a tensor has the reserved name
/// "__metadata__". `float8`: tensors of bytes that are fp8 numbers (E4M3), a type that no `DType` is for.
void write_safetensors(const fs::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const std::set<std::string>& float8 = {});

/// The same tensors in a file that no folder shows, in the place for temporary ones: kernels lay out anew what lies in files,
/// and let the file's pages go, where other memory would be held twice. Throws `UserError` when it cannot be written.
TensorMap in_hidden_file(const TensorMap& tensors);

}  // namespace hone
