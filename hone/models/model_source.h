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

/// A model with the preprocessing of its examples: its tokenizer, or the image preparation.
struct TextModel {
  Model model;
  Tokenizer tokenizer;  ///< unused default if the model reads images
  fs::path folder;      ///< folder it was read from; empty for a new model
  /// The data that it was trained on; empty if unknown.
  std::optional<TrainedOn> trained_on = {};
  std::optional<TokenLimit> limit = {};  ///< maximum text length set by its folder
  std::string prompt = {};               ///< precedes every text, in a pair the first one
  /// The folder whose modules.json lists the model as its encoder, and which is saved with it; empty: none.
  fs::path sentence_folder = {};
  /// The folder of the tokenizer's files if it is not `folder`: that of the config.json of a new model.
  fs::path tokenizer_folder = {};
  std::optional<ImagePreparation> images = {};  ///< for image models
  /// How its texts are truncated, also in written files, if the tokenizer's files differ.
  std::optional<Truncation> truncation = {};
};

/// Returns the named configs for models with new weights. `open_model` gives them the built-in dataset's vocabulary, or
/// a config.json the tokenizer in its folder, if any. "tiny" is bert-tiny (2 layers, hidden 128), "base" BERT-base (12
/// layers, hidden 768), "resnet18" ResNet-18 for images of 224 x 224.
std::vector<std::string> new_model_names();
/// Returns the facts of a new model's config: a named one, with BERT's vocabulary of 30,522, or a config.json. Throws
/// `UserError` for an unknown name or an invalid config.
ModelFacts new_model_facts(const std::string& name);

/// Returns the folder of the model `name`: the folder of that name if it exists, else that of the hub model in the
/// local cache of Hugging Face (see hub_cache.h). Throws `UserError` if neither exists, and for a folder of seeds.
fs::path find_model(const std::string& name);

/// Returns whether `name` is a model with new weights: a named config, unless a folder has that name, or a config.json.
bool is_new_model(const std::string& name);

/// Returns the folder with config.json and weights of the model `name`: that of find_model, or of its listed encoder.
fs::path find_encoder(const std::string& name);

/// Returns the config's facts of an existing or new model. Throws like `find_encoder` and `new_model_facts`.
ModelFacts facts_of_model(const std::string& name);

/// Returns the folder of the config.json `name` if it contains a tokenizer for the new weights; otherwise empty.
fs::path folder_with_tokenizer(const std::string& name);

/// Opens the model `source` (see find_model), or makes a new one (see is_new_model). For a sentence model, this is the
/// encoder, whose tokenizer lowercases if its files require it. `labels` and `head`: see load_model. Throws `UserError`
/// like `load_model`, `load_tokenizer` and `read_sentence_encoder`, and if the vocabulary does not match the weights.
TextModel open_model(const std::string& source, Context& context, std::uint64_t seed,
                     const LabelScheme& labels = {}, HeadFit head = HeadFit::must_fit);

/// Returns the tokenizer class of transformers for a model with these facts if tokenizer_config.json names none.
std::string usual_tokenizer_class(const ModelFacts& facts);

/// Returns the tokenizer of an encoder for a model with these facts, as in `open_model`. Throws `UserError` like
/// `load_tokenizer`, if the tokenizer cannot lowercase, and for padding that positions do not support.
Tokenizer read_tokenizer(const SentenceEncoder& encoder, const ModelFacts& facts);

/// Makes a new model of the config `name`, with weights initialized from `seed`, for the vocabulary of `tokenizer`.
/// Warnings list the differences from a config.json, which was not made for this vocabulary. `labels`: the task and its
/// labels; without names, those of the config. `keys` override those of the config.json.
TextModel make_model(const std::string& name, Tokenizer tokenizer, Context& context,
                     std::uint64_t seed, const LabelScheme& labels,
                     const Json& keys = Json::object());

/// Throws `UserError` for an image model called `name`, because `what` supports only text models.
void check_reads_texts(const ModelFacts& facts, const std::string& name, std::string_view what);

/// Returns the maximum length of a text in tokens: the folder's limit or the model's positions.
std::int64_t max_tokens(const TextModel& source);

/// Writes the tokenizer, or the image preparation, into an existing folder. Files of the original folder are copied
/// unchanged, apart from the model's `truncation`.
void write_tokenizer(const TextModel& source, const fs::path& folder);

/// Throws `UserError` for a model, called `name`, whose files have no classification head.
void check_has_head(const TextModel& source, const std::string& name);

/// Returns a warning that the model, called `name`, or its head is untrained; empty if it is trained as far as known.
std::string untrained_warning(const TextModel& source, const std::string& name);

/// Writes everything except the weights and config: the tokenizer, the modules of a sentence model, and the training
/// record.
void write_other_files(const TextModel& source, const fs::path& folder);

/// Writes the model with all its files into an existing folder.
void write_model(const TextModel& source, const fs::path& folder);

}  // namespace hone
