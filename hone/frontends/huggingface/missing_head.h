#pragma once

#include <string>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"

namespace hone {

/// Describes the head parameters that a checkpoint lacks.
struct MissingHead {
  bool is_half = false;  ///< the checkpoint has part of the head
  /// "m/model.safetensors has no classifier.weight, classifier.bias; it has the tensors cls.predictions.bias and 8 more"
  std::string text;
};

/// Checks the checkpoint in `folder` for the head parameters that `model`, loaded from it, initialized at random
/// (`Model::drawn`).
MissingHead missing_head(const Model& model, const fs::path& folder);

}  // namespace hone
