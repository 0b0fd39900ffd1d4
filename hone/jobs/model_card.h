#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/data/data_facts.h"
#include "hone/jobs/before_and_after.h"
#include "hone/models/model_source.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

/// README.md of a saved model: what it is, how good on which texts, how it was made, and what it is not fit for. It opens
/// with the metadata by which the Hugging Face hub finds models (hf.co/docs/hub/model-cards).
namespace hone {

/// A model evaluated on a split.
struct CardRow {
  std::string what;  ///< "before pruning"; "": the model of the card
  EvaluationResult evaluation = {};
  MeasuredSplitResult split = {};

  bool is_own() const { return what.empty(); }
};

/// What a job says of the model that it has made.
struct CardFacts {
  std::string base;    ///< the model that it was made of, as it was named
  std::string origin;  ///< how, in Markdown: "`bert` pruned (`heads`)"
  /// To the base, as the hub calls it: "finetune", "quantized", "adapter", "merge"; empty: none that it knows.
  std::string relation = {};
  std::vector<std::string> tags = {};  ///< beside those of the architecture and of formats
  std::string library = {};            ///< that loads it; empty: by the model
  std::vector<std::string> weights =
      {};  ///< sentences: how they are stored, and which programs load them; empty: by the model
  std::optional<DataResult> data = {};
  std::vector<CardRow> rows = {};  ///< in their order, the one by which the model is judged last
  std::string unmeasured =
      "It was measured on nothing: the data had no split for that.";  ///< instead of rows
  std::optional<ComparisonResult> comparison = {};                    ///< with the base
  std::string caveat = {};                                            ///< a sentence beside that
  /// What `transformers` computes with its weights, on the split of the last row, where that is something else.
  std::optional<EvaluationResult> in_transformers = {};
  bool is_of_data = false;                 ///< it, or its base, was trained on the data
  std::optional<std::uint64_t> seed = {};  ///< none: nothing is random
  std::int64_t steps = 0;                  ///< of training
  std::optional<std::int64_t> weights_of_step = {};
  std::optional<std::string> format = {};  ///< of its layers
  std::vector<std::string> limits = {};    ///< sentences: what else it is not fit for
};

/// A name that was given on the command line, or a label, as code in Markdown.
std::string markdown_code(const std::string& name);

/// Of a model that was made of `subject` by training.
CardFacts facts_of_training(const SubjectResult& subject, std::uint64_t seed, std::int64_t steps,
                            std::int64_t weights_of_step);
/// Of a model that was made of `subject` and measured beside it; `before` names that row.
CardFacts facts_of_change(const SubjectResult& subject, const BeforeAndAfterResult& both,
                          const std::string& before = "before");

struct ModelCard {
  std::string name;          ///< of the model: of its folder
  std::string command_line;  ///< that makes it again
  CardFacts facts;
  std::vector<std::string> takes = {};  ///< sentences: what is gone, parameters, bytes, time
  std::int64_t max_seq_length = 0;      ///< to which texts were cut; 0: as the model's folder says
};

/// How a model's texts are cut.
struct CardCut {
  std::int64_t tokens = 0;  ///< the most that are kept
  Truncation truncation = Truncation::head;
};

/// The card as Markdown. What is not known is not there: no language, no licence, and a base model only where the base has the form
/// of a name on the hub and is no folder here.
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
