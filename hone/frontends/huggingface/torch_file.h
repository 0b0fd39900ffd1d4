#pragma once

#include "hone/tensor/safetensors.h"

namespace hone {

/// The tensors of a state dict saved by `torch.save`: a zip archive (PyTorch 1.6 and later) or the
/// layout before it. A dict {"state_dict": {...}, ...} gives its inner dict.
///
/// Nothing of the file is run: see `unpickle`. Tensors view the mapped file where their elements
/// are aligned, as those of `read_safetensors` do, and are read-only then; strides and shared
/// storages are kept as they were saved. Throws `UserError` with the path for damaged files, for
/// anything but tensors, and for element types or byte orders other than ours.
TensorMap read_torch_file(const fs::path& path);
/// The same of a file in memory, without a path in the messages.
TensorMap read_torch_file(const SharedBytes& file);

}  // namespace hone
