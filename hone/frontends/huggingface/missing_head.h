#pragma once

#include <string>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"

namespace hone {

/// What a checkpoint lacks of the head of a model.
struct MissingHead {
  bool is_half = false;  ///< the checkpoint has a part of it
  /// "m/model.safetensors has no classifier.weight, classifier.bias; it has the tensors cls.predictions.bias and 8 more"
  std::string text;
};

/// Looks for the head of a model whose head was drawn at random (`Model::drawn`) in the folder that it was read from.
MissingHead missing_head(const Model& model, const fs::path& folder);

}  // namespace hone
