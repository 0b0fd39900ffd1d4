#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tensor/safetensors.h"

/// Tensor names in checkpoints, independent of the wrappers around the saved model.
namespace hone {

/// Returns `name` without the modules that wrappers add: "module" of torch.nn.DataParallel and DistributedDataParallel,
/// "_orig_mod" of torch.compile, and those of FSDP, activation checkpoints and Lightning Fabric.
std::string unwrapped_name(std::string_view name);

/// The tensors of a checkpoint by parameter name.
struct NamedCheckpoint {
  TensorMap tensors = {};
  /// bool, true for kept weights, by tensor name. The zeros are also in `tensors`.
  TensorMap masks = {};
  std::vector<std::string> notes = {};  ///< for the user: what was removed from all names
};

/// Renames the tensors of the file `source`. In this order it removes wrappers, multiplies X_orig and X_mask of
/// torch.nn.utils.prune, replaces the old names `gamma` and `beta`, and removes a prefix that all names share. The
/// prefix is found with `landmark`, a tensor that every checkpoint of the architecture has
/// ("embeddings.word_embeddings.weight"), with or without the name of the encoder ("bert") before it. Throws
/// `UserError` for two tensors with the same name, for half of a pruned weight, and for masks with values other than 0
/// and 1.
NamedCheckpoint parameter_names(TensorMap tensors, const std::string& source,
                                std::string_view encoder, std::string_view landmark);

}  // namespace hone
