#pragma once

#include <string>
#include <vector>

#include "hone/app/context.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/text/tokenizer.h"

namespace hone {

/// A model with the tokenizer that goes with it.
struct TextModel {
  Model model;
  Tokenizer tokenizer;
  fs::path folder;  ///< where it was read from; empty for a fresh one
};

/// Shapes that can be had without a folder: with fresh weights and the built-in data's vocabulary.
/// "tiny" is that of bert-tiny (2 layers, hidden 128), "base" that of BERT-base (12 layers, hidden 768).
std::vector<std::string> fresh_model_names();
/// The shape behind such a name, with BERT's vocabulary of 30 522. Throws `UserError` for an unknown name.
BertConfig fresh_config(std::string_view name);

/// Opens a model folder, or makes a fresh model when `source` is the name of a shape and no folder is called that.
/// `labels`: see load_model.
TextModel open_model(const std::string& source, const Context& context, std::uint64_t seed,
                     const std::vector<std::string>& labels = {});

/// Writes the model and its tokenizer into an existing folder. The tokenizer's files are copied as they are.
void write_model(const TextModel& source, const fs::path& folder);

/// The model's forward graph in training mode, with its quantizers if it is quantized.
Graph model_graph(const Model& model, const Context& context, const GraphInputs& inputs);

}  // namespace hone
