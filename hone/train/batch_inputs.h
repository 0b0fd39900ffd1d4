#pragma once

#include "hone/runtime/interpreter.h"
#include "hone/text/batching.h"

namespace hone {

/// A batch as the inputs of a model's graph: input_ids, attention_mask, token_type_ids i64[B, S], labels i64[B].
NamedTensors batch_inputs(const Batch& batch);

}  // namespace hone
