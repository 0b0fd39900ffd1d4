#pragma once

#include <string>

#include "hone/base/json.h"
#include "hone/models/model_source.h"

/// README.md of a saved model: what it is, how good on which texts, how it was made, and what it is not fit for. It opens
/// with the metadata by which the Hugging Face hub finds models (hf.co/docs/hub/model-cards).
namespace hone {

struct ModelCard {
  std::string name;          ///< of the model: of its folder
  std::string command_line;  ///< that makes it again
  Json
      result;  ///< of `train` or `quantize` for one seed, of `pass` or `lora`, as docs/output.md has it
};

/// The card as Markdown. What is not known is not there: no language, no licence, and a base model only where the
/// result's `model` has the form of a name on the hub and is no folder here.
std::string to_markdown(const ModelCard& card, const Model& model);

/// Writes it as `folder`/README.md. Throws `UserError`.
void write_model_card(const ModelCard& card, const Model& model, const fs::path& folder);

}  // namespace hone
