#pragma once

#include <string>
#include <string_view>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/frontends/huggingface/module_list.h"

/// The prompt and the activation of sentence-transformers' cross-encoders, which convert logits to scores.
namespace hone {

enum class ScoreActivation {
  none,  ///< scores are computed as for the task
  identity,
  sigmoid,
  tanh
};

/// Copies the activation from config_sentence_transformers.json in `folder` into the config, where older versions have
/// it, so that it is saved with the model. The file counts only next to a modules.json. A cross-encoder of one label
/// without an activation gets a sigmoid. Stores which file has the activation.
void read_score_activation(ModelFacts& facts, const fs::path& folder, const JsonReader& read);

/// Returns the text that the cross-encoder in `folder` puts before the first text of each example: the default prompt
/// of config_sentence_transformers.json. Empty without one, and for other models.
std::string read_score_prompt(const fs::path& folder, const JsonReader& read);

/// Returns whether the config has an activation, as cross-encoders do.
bool is_cross_encoder(const ModelFacts& facts);

/// Returns the activation in the config, applied to each number separately. Without one, a single number gets a
/// sigmoid, as in CrossEncoder and the pipelines of transformers, unless its problem_type is regression. Throws
/// `UserError` with the file for an unsupported activation.
ScoreActivation score_activation(const ModelFacts& facts);

/// Marks the model's outputs as the scores themselves, as after training with a loss on scores.
void use_raw_scores(ModelFacts& facts);

double apply(ScoreActivation activation, double number);

/// "Sigmoid"; "" for none and identity.
std::string_view title(ScoreActivation activation);

}  // namespace hone
