#pragma once

#include <string_view>

#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/metrics/task.h"

namespace hone {

/// The classification head, which reads the first token:
///
///     logits = classes(dropout(activation(dense(dropout(first token)))))
struct HeadModules {
  std::string_view name;           ///< parent of the operations on the first token
  std::string_view first_dropout;  ///< empty: none
  std::string_view dense;
  std::string_view activation;  ///< one of activation_names()
  std::string_view dropout;
  std::string_view classes;  ///< a linear with one row per class
};

/// Adds the head after the hidden states f32[B, S, H]. Returns the logits f32[B, labels].
Value add_classification_head(ModuleBuilder& builder, const HeadModules& modules,
                              const EncoderConfig& config, Value hidden);

/// Returns the type of the input `labels` of a task: i64[B], the class of each text; or f32[B, labels], its numbers, or
/// 1 for each of its labels and 0 for the others.
Type labels_type(Task task, const Type& logits);

/// Adds the output `loss` f32[], as Hugging Face computes it for a problem_type: mean cross-entropy, squared error or
/// binary cross-entropy of the logits against `labels`.
void add_loss(Graph& graph, Task task, Value logits);

}  // namespace hone
