#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/data/data_facts.h"
#include "hone/jobs/before_and_after.h"
#include "hone/models/model_source.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

/// README.md of a saved model: what it is, its metrics on which examples, how it was made, and its limitations. It
/// begins with the metadata by which the Hugging Face hub finds models (hf.co/docs/hub/model-cards).
namespace hone {

/// A model evaluated on a split.
struct CardRow {
  std::string what;  ///< "before pruning"; "": the model of the card
  EvaluationResult evaluation = {};
  MeasuredSplitResult split = {};

  bool is_own() const { return what.empty(); }
};

/// The facts that a job contributes to the card of its model.
struct CardFacts {
  std::string base;    ///< the base model, as it was named
  std::string origin;  ///< how it was made, in Markdown: "`bert` pruned (`heads`)"
  /// Relation to the base in the hub's terms: "finetune", "quantized", "adapter", "merge"; empty: none of these.
  std::string relation = {};
  std::vector<std::string> tags = {};  ///< besides those of the architecture and the formats
  std::string library = {};            ///< that loads it; empty: determined by the model
  std::vector<std::string> weights =
      {};  ///< sentences on their storage and the programs that load them; empty: determined by the model
  std::optional<DataResult> data = {};
  std::vector<CardRow> rows = {};  ///< in order; the last one judges the model
  std::string no_metrics_reason =
      "It was not evaluated: the data had no split for that.";  ///< instead of rows
  std::optional<ComparisonResult> comparison = {};              ///< with the base
  std::string caveat = {};                                      ///< a sentence about the comparison
  /// Results in `transformers` on the split of the last row, if they differ from hone's.
  std::optional<EvaluationResult> in_transformers = {};
  bool trained_on_data = false;            ///< it or its base was trained on the data
  std::optional<std::uint64_t> seed = {};  ///< empty: nothing is random
  std::int64_t steps = 0;                  ///< of training
  std::optional<std::int64_t> weights_of_step = {};
  std::optional<std::string> format = {};  ///< of its layers
  std::vector<std::string> limits = {};    ///< sentences about further limitations
};

/// Formats a name from the command line, or a label, as Markdown code.
std::string markdown_code(const std::string& name);

/// Returns the facts of a model trained from `subject`.
CardFacts facts_of_training(const SubjectResult& subject, std::uint64_t seed, std::int64_t steps,
                            std::int64_t weights_of_step);
/// Returns the facts of a model made from `subject` and compared with it; `before` labels the row of `subject`.
CardFacts facts_of_change(const SubjectResult& subject, const BeforeAndAfterResult& both,
                          const std::string& before = "before");

struct ModelCard {
  std::string name;          ///< of the model's folder
  std::string command_line;  ///< that reproduces it
  CardFacts facts;
  std::vector<std::string> size_notes =
      {};                           ///< sentences: removed parts, parameters, bytes, latency
  std::int64_t max_seq_length = 0;  ///< token limit of texts; 0: that of the model's folder
};

/// How texts are truncated.
struct CardCut {
  std::int64_t tokens = 0;  ///< maximum number of tokens
  Truncation truncation = Truncation::head;
};

/// Returns the card as Markdown. Unknown facts are omitted: there is no language and no license, and a base model only
/// if its name looks like a hub name and is not a local folder.
std::string to_markdown(const ModelCard& card, const Model& model, const CardCut& cut);

/// Writes the card as `folder`/README.md, with the lowest token limit of the model, the folder's tokenizer files and
/// the card. Throws `UserError`.
void write_model_card(const ModelCard& card, const Model& model, const fs::path& folder);

/// Card facts of a copy of a model that stores its weights differently.
struct CardCopy {
  std::string name;     ///< of the copy's folder
  std::string how;      ///< a sentence: which command made it, and whose metrics the card has
  std::string library;  ///< that loads it, by its name on the hub
  std::vector<std::string> weights;  ///< sentences on their storage and the programs that load them
  bool quantized = false;
  History history = {};
};

/// Returns the facts of the copy `model`, in a folder written by `save_model`.
CardCopy card_copy(const Model& model, std::string name, std::string how);

/// Adapts the card of the model `before` to a copy. Replaces the name and the statements on weights, passes and
/// programs that load it, and removes size and latency. Keeps the title of a card that hone did not write.
std::string adapted_card(std::string card, const Model& before, const CardCopy& copy);

/// Writes the adapted card into `folder` if the model has a card in `from`, which can be empty.
void copy_model_card(const fs::path& from, const Model& before, const CardCopy& copy,
                     const fs::path& folder);

}  // namespace hone
