#pragma once

#include <string_view>

#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/metrics/task.h"

namespace hone {

/// What tells classes apart by the first token:
///
///     logits = classes(dropout(activation(dense(dropout(first token)))))
struct HeadModules {
  std::string_view name;           ///< what is done to the first token stands below
  std::string_view first_dropout;  ///< empty: there is none
  std::string_view dense;
  std::string_view activation;  ///< one of activation_names()
  std::string_view dropout;
  std::string_view classes;  ///< a linear with a row for each class
};

/// Adds the head behind the hidden states f32[B, S, H]; returns the logits f32[B, labels].
Value add_classification_head(ModuleBuilder& builder, const HeadModules& modules,
                              const EncoderConfig& config, Value hidden);

/// What the input `labels` is for a task: i64[B], the class of each text; f32[B, labels], its numbers, or 1 for each label
/// that it has and 0 for the others.
Type labels_type(Task task, const Type& logits);

/// Adds the output `loss` f32[], as Hugging Face computes it for a problem_type: mean cross-entropy, squared error or binary
/// cross-entropy of the logits against `labels`.
void add_loss(Graph& graph, Task task, Value logits);

}  // namespace hone
