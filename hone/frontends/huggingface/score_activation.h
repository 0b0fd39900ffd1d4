#pragma once

#include <string>
#include <string_view>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/frontends/huggingface/module_list.h"

/// What a cross-encoder of sentence-transformers does to its texts, and to its numbers before they
/// are scores.
namespace hone {

enum class ScoreActivation {
  none,  ///< the scores are those of the task
  identity,
  sigmoid,
  tanh
};

/// Puts what config_sentence_transformers.json in `folder` says of the activation where older
/// versions have it, into the config: there it goes along with the model. The file counts beside a
/// modules.json alone. A cross-encoder of one label that says nothing has a sigmoid. Keeps which file
/// has the activation.
void take_score_activation(ModelFacts& facts, const fs::path& folder, const JsonReader& read);

/// What the cross-encoder in `folder` puts in front of the first text of each example: the default
/// prompt of config_sentence_transformers.json. Empty where there is none, and for other models.
std::string read_score_prompt(const fs::path& folder, const JsonReader& read);

/// Whether the config says an activation, as those of cross-encoders do.
bool is_cross_encoder(const ModelFacts& facts);

/// The activation that the config says, of each number alone. Else, of one number, a sigmoid, as
/// CrossEncoder and the pipelines of transformers have it, unless its problem_type is a regression.
/// Throws `UserError`, with the file, for one that is not supported.
ScoreActivation score_activation(const ModelFacts& facts);

/// Says that the model's numbers are the scores themselves, as after training with a loss of them.
void use_raw_scores(ModelFacts& facts);

double apply(ScoreActivation activation, double number);

/// "Sigmoid"; "" of none and identity.
std::string_view title(ScoreActivation activation);

}  // namespace hone
