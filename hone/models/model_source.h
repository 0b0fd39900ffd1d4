#pragma once

#include <string>
#include <vector>

#include "hone/data/trained_on.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"
#include "hone/text/tokenizer.h"

namespace hone {

/// A model with the tokenizer that goes with it.
struct TextModel {
  Model model;
  Tokenizer tokenizer;
  fs::path folder;  ///< where it was read from; empty for a fresh one
  /// What it has learnt from; none where that is not known.
  std::optional<TrainedOn> trained_on = {};
};

/// Configs that have a name, for models with fresh weights; `open_model` gives them the built-in data's vocabulary.
/// "tiny" is that of bert-tiny (2 layers, hidden 128), "base" that of BERT-base (12 layers, hidden 768).
std::vector<std::string> fresh_model_names();
/// What the config of a fresh model says: that of such a name, with BERT's vocabulary of 30 522, or a config.json. Throws
/// `UserError` for an unknown name, and for a config that is none.
ModelFacts fresh_facts(const std::string& name);

/// The folder that `name` stands for: itself if it is there, else the model of the hub that is called so in the local
/// cache of Hugging Face (see hub_cache.h). Throws `UserError` when it is neither, and for a folder of seeds.
fs::path find_model(const std::string& name);

/// Whether `name` stands for a model with fresh weights: it is the name of a config, and no folder is called that, or a
/// config.json itself.
bool is_fresh(const std::string& name);

/// Opens the model called `source` (see find_model), or makes a fresh one (see is_fresh).
/// `labels` and `head`: see load_model.
TextModel open_model(const std::string& source, const Context& context, std::uint64_t seed,
                     const LabelScheme& labels = {}, HeadFit head = HeadFit::must_fit);

/// A fresh model of the config called `name`, with weights drawn by `seed`, for the vocabulary of `tokenizer`.
/// `labels`: its task and what it says; without names: as the config says. `keys`: of its config.json that are other than there.
TextModel make_model(const std::string& name, Tokenizer tokenizer, const Context& context,
                     std::uint64_t seed, const LabelScheme& labels,
                     const Json& keys = Json::object());

/// Writes the tokenizer into an existing folder; the files of a folder it was read from are copied as they are.
void write_tokenizer(const TextModel& source, const fs::path& folder);

/// Says that the model, called `name`, is as it was drawn, or its head; empty when it is trained as far as can be seen.
std::string untrained_warning(const TextModel& source, const std::string& name);

/// Writes the model, its tokenizer and what it has learnt from into an existing folder.
void write_model(const TextModel& source, const fs::path& folder);

}  // namespace hone
