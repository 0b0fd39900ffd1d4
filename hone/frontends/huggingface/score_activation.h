#pragma once

#include <string_view>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/frontends/huggingface/module_list.h"

/// What a cross-encoder of sentence-transformers does to its one number before it is a score.
namespace hone {

enum class ScoreActivation {
  none,  ///< the model is no cross-encoder with one label
  identity,
  sigmoid,
  tanh
};

/// Puts what config_sentence_transformers.json in `folder` says of the activation where older
/// versions have it, into the config: there it goes along with the model. A cross-encoder that says
/// nothing has a sigmoid.
void take_score_activation(ModelFacts& facts, const fs::path& folder, const JsonReader& read);

/// The activation of a model of one number. Throws `UserError` for one that is not supported.
ScoreActivation score_activation(const ModelFacts& facts);

/// Says that the model's number is the score itself, as it is after training with a loss of it.
void use_raw_scores(ModelFacts& facts);

double apply(ScoreActivation activation, double number);

/// "Sigmoid"; "" of none and identity.
std::string_view title(ScoreActivation activation);

}  // namespace hone
