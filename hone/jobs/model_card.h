#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/models/model_source.h"

/// README.md of a saved model: what it is, how good on which texts, how it was made, and what it is not fit for. It opens
/// with the metadata by which the Hugging Face hub finds models (hf.co/docs/hub/model-cards).
namespace hone {

struct ModelCard {
  std::string name;          ///< of the model: of its folder
  std::string command_line;  ///< that makes it again
  Json result;  ///< of a command that makes a model, for one seed, as docs/output.md has it
  std::vector<std::string> takes = {};  ///< sentences: what is gone, parameters, bytes, time
};

/// The card as Markdown. What is not known is not there: no language, no licence, and a base model only where the
/// result's `model` has the form of a name on the hub and is no folder here.
/// `others_load`: transformers finds the weights of what the config says. `truncation`: how its tokenizer's files say that
/// texts are cut.
std::string to_markdown(const ModelCard& card, const Model& model, bool others_load,
                        Truncation truncation = Truncation::head);

/// Writes it as `folder`/README.md. Throws `UserError`.
void write_model_card(const ModelCard& card, const Model& model, const fs::path& folder);

}  // namespace hone
