#pragma once

#include "hone/data/encoded_set.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/train/example_source.h"

namespace hone {

/// Returns encoded texts as the inputs of a model's graph: input_ids, attention_mask (0 at padding), token_type_ids
/// i64[B, S], and labels in the form that the task's loss requires: i64[B], or f32[B, targets]. Images are
/// `pixel_values` f32[B, C, H, W] with labels. `set` must outlive the result.
ExampleSource text_examples(const EncodedSet& set);

/// Returns the correct labels or targets. `set` must outlive the result.
Truth truth_of(const EncodedSet& set);

}  // namespace hone
