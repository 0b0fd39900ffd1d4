#pragma once

#include "hone/data/encoded_set.h"
#include "hone/train/example_source.h"

namespace hone {

/// Encoded texts as the inputs of a model's graph: input_ids, attention_mask (0 at padding), token_type_ids i64[B, S],
/// labels i64[B]. `set` must outlive it.
ExampleSource text_examples(const EncodedSet& set);

}  // namespace hone
