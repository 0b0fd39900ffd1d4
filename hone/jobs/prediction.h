#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/frontends/huggingface/score_activation.h"
#include "hone/jobs/text_rows.h"
#include "hone/models/embedding_model.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"

/// What a model says of texts, one after the other, and the forms in which programs take it.
namespace hone {

/// What a model is asked about texts.
enum class Question {
  label,     ///< which class each is of
  embedding  ///< the vector of each
};

/// What predictions are about, known before the first of them.
struct PredictionSubject {
  Question question = Question::label;
  std::string model;                ///< as it was asked for
  std::string data = {};            ///< where the texts are read from; empty: they were given
  std::string part = {};            ///< of the data
  bool pairs = false;               ///< texts have a second one
  bool labelled = false;            ///< some have a gold label
  bool many_files = false;          ///< they come from several files
  bool numbered = false;            ///< there may be many, told apart by their ids
  Task task = Task::single_label;   ///< of the model
  std::vector<std::string> labels;  ///< names of what it says
  std::int64_t width = 0;           ///< logits, or numbers of a vector
  std::string pooling = {};         ///< of an embedding
  bool normalized = false;          ///< an embedding has length 1
  std::string activation = {};      ///< of the scores of a cross-encoder: "Sigmoid"
};

/// What a model says of one text. Figures that are no numbers leave `label` and `score` out.
struct Prediction {
  TextRow row;
  std::vector<std::int32_t> input_ids;
  bool cut = false;              ///< the text was longer than `input_ids`
  std::vector<float> embedding;  ///< where that was asked for; else what follows
  std::vector<float> logits;
  /// The logits, or of a cross-encoder's numbers the activation of each.
  std::vector<float> values;
  /// Of classes the softmax of the logits, of labels their sigmoids; of a cross-encoder with a sigmoid, or tanh, that of each.
  std::vector<double> probabilities;
  std::optional<std::string>
      label;  ///< of the largest logit, the first of equal ones; of one class of several
  std::optional<double> score;  ///< its probability
  bool has_number = true;  ///< none of the logits, or of the embedding, is a NaN or an infinity
};

/// An example as a model read it, in results.
struct ReadTextResult {
  Json id = {};
  std::optional<std::string> file = {};
  std::string text = {};
  std::optional<std::string> text_pair = {};
  Json gold = {};
  bool cut = false;
  std::vector<std::int32_t> input_ids = {};
};
/// Numbers, null where they are not finite.
using NumbersOrNull = std::vector<std::optional<double>>;
/// An example and what a model predicts for it, in results.
struct PredictionResult {
  ReadTextResult read = {};
  std::optional<std::string> label = {};
  std::optional<double> score = {};
  Json value = {};
  std::optional<std::vector<std::string>> predicted_labels = {};
  std::vector<std::string> labels = {};
  std::optional<NumbersOrNull> probabilities = {};
  NumbersOrNull logits = {};
};
/// An example and its embedding, in results.
struct EmbeddingResult {
  ReadTextResult read = {};
  NumbersOrNull embedding = {};
};
/// Data of which the name is known before the last row is read, in results.
struct NamedDataResult {
  std::string source;
};
/// A line of the result for programs.
struct PredictFields {
  std::string model;
  std::optional<NamedDataResult> data = {};
  std::optional<std::string> split = {};
  PredictionResult prediction = {};
};
/// A line of the result with embeddings.
struct EmbedFields {
  std::string model;
  std::optional<NamedDataResult> data = {};
  std::optional<std::string> split = {};
  std::string pooling = {};
  bool normalized = false;
  EmbeddingResult embedded = {};
};
const Fields& fields_of(const ReadTextResult*);
const Fields& fields_of(const PredictionResult*);
const Fields& fields_of(const EmbeddingResult*);
const Fields& fields_of(const NamedDataResult*);
const Fields& fields_of(const PredictFields*);
const Fields& fields_of(const EmbedFields*);

/// `PredictFields`, or of embeddings `EmbedFields`.
Json predict_fields(const Prediction& prediction, const PredictionSubject& subject);

/// Answers one question about texts, in batches. A text's figures are the same bits whatever is answered with it: it is
/// padded to the next multiple of 8 tokens always, and only texts that are as long then share a batch.
class TextPredictor {
 public:
  /// For labels. `source` and `context` must outlive it. `text_cut`: see text_limit.
  TextPredictor(const TextModel& source, const TextCut& text_cut, std::int64_t batch_size,
                Context& context);
  /// For embeddings. `text_cut`: see text_limit of these.
  TextPredictor(const EmbeddingModel& model, const TextCut& text_cut, std::int64_t batch_size,
                Context& context);

  /// In the order of `rows`. Throws `Interrupted`.
  std::vector<Prediction> predict(std::vector<TextRow> rows);

  /// Logits or numbers of a vector.
  std::int64_t width() const { return predictor_.width(); }
  /// What was seen so far.
  std::int64_t texts = 0, tokens = 0, unknown = 0, cut = 0, empty = 0, without_number = 0,
               replaced_bytes = 0;
  /// What is to be told of it at the end.
  std::vector<std::string> warnings() const;

 private:
  const TextModel& source_;
  Context& context_;
  Question question_;
  TextLimit limit_;
  ScoreActivation activation_ = ScoreActivation::none;
  std::int64_t batch_size_;
  Predictor predictor_;
  RepeatedRuns runs_;
  std::int64_t checked_ = 0;  // tokens of the largest batch that memory was seen for

  void check_memory_for(std::int64_t batch, std::int64_t tokens);
};

/// A key of a prediction that `--fields` can choose.
struct PredictionField {
  std::string_view name;
  enum class Rows { all, pairs, labelled, of_many_files } of = Rows::all;  ///< rows that have it
  std::optional<Question> answers = {};  ///< the question that has it; none: any
  bool list = false;             ///< CSV has it only when it is asked for, as JSON in one cell
  std::vector<Task> tasks = {};  ///< that have it; none: any
  /// Of several numbers an object; CSV has a column for each, "value.NAME".
  bool of_outputs = false;
};
const std::vector<PredictionField>& prediction_fields();
/// The one called so. Throws `UserError` for an unknown name.
const PredictionField& find_prediction_field(const std::string& name);

/// The fields called `names`; when there are none, all that predictions about the `subject` have, for CSV without lists
/// but for the embedding. Throws `UserError` for an unknown name, one given twice, and one that they do not have.
std::vector<PredictionField> choose_fields(const std::vector<std::string>& names,
                                           const PredictionSubject& subject, bool csv);

/// An object of the fields.
Json to_json(const Prediction& prediction, std::span<const PredictionField> fields,
             const PredictionSubject& subject);
/// A line of RFC 4180 with their names, and one with their values.
std::string csv_header(std::span<const PredictionField> fields, const PredictionSubject& subject);
std::string to_csv(const Prediction& prediction, std::span<const PredictionField> fields,
                   const PredictionSubject& subject);

}  // namespace hone
