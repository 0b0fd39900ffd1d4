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
  Json result;  ///< of a command that makes a model, for one seed, as docs/reference/json.md has it
  std::vector<std::string> takes = {};  ///< sentences: what is gone, parameters, bytes, time
  std::int64_t max_seq_length = 0;      ///< to which texts were cut; 0: as the model's folder says
};

/// How a model's texts are cut.
struct CardCut {
  std::int64_t tokens = 0;  ///< the most that are kept
  Truncation truncation = Truncation::head;
};

/// The card as Markdown. What is not known is not there: no language, no licence, and a base model only where the
/// result's `model` has the form of a name on the hub and is no folder here.
std::string to_markdown(const ModelCard& card, const Model& model, const CardCut& cut);

/// Writes it as `folder`/README.md; texts are cut as the tokenizer's files in the folder say, and the card. Throws `UserError`.
void write_model_card(const ModelCard& card, const Model& model, const fs::path& folder);

/// A copy of a model whose weights are stored in another way, for its card.
struct CardCopy {
  std::string name;     ///< of the copy: of its folder
  std::string how;      ///< a sentence: which command made it, and whose metrics the card has
  std::string library;  ///< that loads it, as the hub calls it
  std::vector<std::string>
      weights;  ///< sentences: how they are stored, and which programs load them
  bool quantized = false;
  History history = {};
};

/// The copy `model`, in a folder as `save_model` writes it.
CardCopy card_copy(const Model& model, std::string name, std::string how);

/// The card of the model `before` for a copy of it. Replaces its name, what it says of weights, passes and who can load them, and
/// leaves out what the model takes. The title of a card that hone did not write stays.
std::string carried_card(std::string card, const Model& before, const CardCopy& copy);

/// Writes that into `folder`, where the model has a card in `from`, which may be empty.
void carry_card(const fs::path& from, const Model& before, const CardCopy& copy,
                const fs::path& folder);

}  // namespace hone
