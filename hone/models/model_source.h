#pragma once

#include <string>
#include <vector>

#include "hone/data/image_preparation.h"
#include "hone/data/trained_on.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/frontends/huggingface/sentence_modules.h"
#include "hone/runtime/context.h"
#include "hone/text/tokenizer.h"

namespace hone {

/// A model with what makes its examples into what it reads: its tokenizer, or of images their preparation.
struct TextModel {
  Model model;
  Tokenizer tokenizer;  ///< of the built-in data, and not read, where the model reads images
  fs::path folder;      ///< where it was read from; empty for a fresh one
  /// What it has learned from; none where that is not known.
  std::optional<TrainedOn> trained_on = {};
  std::optional<TokenLimit> limit = {};  ///< where its folder says that texts are cut
  std::string prompt = {};               ///< is put in front of every text, of a pair the first
  /// Where a modules.json lists it as the encoder of a sentence model, which goes along with it; empty: nowhere.
  fs::path modules = {};
  /// Where the files of its tokenizer lie, if not in `folder`: beside the config.json of fresh weights.
  fs::path tokenizer_folder = {};
  std::optional<ImagePreparation> images = {};  ///< of a model of images
  /// How its texts are cut, and its files are to say, where that is not what the tokenizer's files say.
  std::optional<Truncation> truncation = {};
};

/// Configs that have a name, for models with fresh weights; `open_model` gives them the built-in data's vocabulary, and a
/// config.json the tokenizer that lies beside it, if any. "tiny" is that of bert-tiny (2 layers, hidden 128), "base" that
/// of BERT-base (12 layers, hidden 768), "resnet18" that of ResNet-18 for images of 224 x 224.
std::vector<std::string> fresh_model_names();
/// What the config of a fresh model says: that of such a name, with BERT's vocabulary of 30,522, or a config.json. Throws
/// `UserError` for an unknown name, and for a config that is none.
ModelFacts fresh_facts(const std::string& name);

/// The folder that `name` stands for: itself if it is there, else the model of the hub that is called so in the local
/// cache of Hugging Face (see hub_cache.h). Throws `UserError` when it is neither, and for a folder of seeds.
fs::path find_model(const std::string& name);

/// Whether `name` stands for a model with fresh weights: it is the name of a config, and no folder is called that, or a
/// config.json itself.
bool is_fresh(const std::string& name);

/// The folder of config.json and weights of the model called so: that of find_model, or of the encoder that it lists.
fs::path find_encoder(const std::string& name);

/// What the config of the model called so says, opened or fresh. Throws as `find_encoder` and `fresh_facts`.
ModelFacts facts_of_model(const std::string& name);

/// The folder of the config.json that `name` is, where a tokenizer lies beside it for the fresh weights; empty for all else.
fs::path folder_with_tokenizer(const std::string& name);

/// Opens the model called `source` (see find_model), or makes a fresh one (see is_fresh). Of a sentence model it is the
/// encoder, whose tokenizer writes small where its files ask for it. `labels` and `head`: see load_model. Throws `UserError`
/// as `load_model`, `load_tokenizer` and `read_sentence_encoder` do, and for a vocabulary that is not that of the weights.
TextModel open_model(const std::string& source, Context& context, std::uint64_t seed,
                     const LabelScheme& labels = {}, HeadFit head = HeadFit::must_fit);

/// The class of transformers that reads the tokenizer's files of a model with these facts, where
/// tokenizer_config.json names none.
std::string usual_tokenizer_class(const ModelFacts& facts);

/// The tokenizer beside such an encoder, for a model with these facts, as `open_model` gives it. Throws `UserError` as
/// `load_tokenizer` does, for small letters that it cannot write, and for padding that positions cannot be told by.
Tokenizer read_tokenizer(const SentenceEncoder& encoder, const ModelFacts& facts);

/// A fresh model of the config called `name`, with weights drawn by `seed`, for the vocabulary of `tokenizer`, of word
/// pieces that were not made for it: its warnings tell what is other than in a config.json.
/// `labels`: its task and what it says; without names: as the config says. `keys`: of its config.json that are other than there.
TextModel make_model(const std::string& name, Tokenizer tokenizer, Context& context,
                     std::uint64_t seed, const LabelScheme& labels,
                     const Json& keys = Json::object());

/// Throws `UserError` for a model of images, called `name`: `what` is of models of texts alone.
void check_reads_texts(const ModelFacts& facts, const std::string& name, std::string_view what);

/// The most tokens of a text that the model is made for: where its folder cuts texts, or its
/// positions.
std::int64_t most_tokens(const TextModel& source);

/// Writes the tokenizer, or of images the preparation, into an existing folder; the files of a folder it was read from are
/// copied as they are, but for the model's `truncation`.
void write_tokenizer(const TextModel& source, const fs::path& folder);

/// Throws `UserError` for a model, called `name`, that tells no classes apart because its files have no head.
void check_has_head(const TextModel& source, const std::string& name);

/// Says that the model, called `name`, is as it was drawn, or its head; empty when it is trained as far as can be seen.
std::string untrained_warning(const TextModel& source, const std::string& name);

/// Writes what stands beside the weights of the model: its tokenizer, the modules of a sentence model, and what it has learned
/// from.
void write_beside(const TextModel& source, const fs::path& folder);

/// Writes the model and what stands beside it into an existing folder.
void write_model(const TextModel& source, const fs::path& folder);

}  // namespace hone
