#pragma once

#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/session.h"

namespace hone {

/// Counts the zeros of every parameter of a model, with packed ones decoded.
std::vector<Zeros> zeros_of(const Model& model, const Session& session);

}  // namespace hone
