#pragma once

#include "hone/data/encoded_set.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/train/example_source.h"

namespace hone {

/// Encoded texts as the inputs of a model's graph: input_ids, attention_mask (0 at padding), token_type_ids i64[B, S],
/// labels as the loss of the set's task takes them: i64[B], or f32[B, targets]. Images are `pixel_values` f32[B, C, H, W] with
/// labels. `set` must outlive it.
ExampleSource text_examples(const EncodedSet& set);

/// What the right answers to the texts are. `set` must outlive it.
Truth truth_of(const EncodedSet& set);

}  // namespace hone
