#pragma once

#include "hone/tensor/safetensors.h"

namespace hone {

/// Reads the tensors of a state dict saved by `torch.save`: a zip archive (PyTorch 1.6 and later) or the earlier
/// layout. A dict {"state_dict": {...}, ...} gives its inner dict.
///
/// Nothing in the file is executed: see `unpickle`. Tensors with aligned elements are read-only views of the mapped
/// file, as in `read_safetensors`; strides and shared storages are kept. Throws `UserError` with the path for damaged
/// files, for anything but tensors, and for unsupported element types or byte orders.
TensorMap read_torch_file(const fs::path& path);
/// The same for a file in memory, without a path in the messages.
TensorMap read_torch_file(const SharedBytes& file);

}  // namespace hone
