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

/// Predictions for texts, and their forms in JSON and CSV.
namespace hone {

/// The kind of prediction.
enum class PredictionKind {
  label,     ///< the class of each text
  embedding  ///< the vector of each text
};

/// Facts about a series of predictions, known before the first one.
struct PredictionSubject {
  PredictionKind kind = PredictionKind::label;
  std::string model;                ///< as it was named
  std::string data = {};            ///< source of the texts; empty: they were given directly
  std::string split = {};           ///< split of the data
  bool pairs = false;               ///< texts come in pairs
  bool labelled = false;            ///< some texts have a gold label
  bool many_files = false;          ///< texts come from several files
  bool numbered = false;            ///< there can be several, distinguished by their ids
  Task task = Task::single_label;   ///< of the model
  std::vector<std::string> labels;  ///< names of the outputs
  std::int64_t width = 0;           ///< number of logits, or length of a vector
  std::string pooling = {};         ///< of embeddings
  bool normalized = false;          ///< whether embeddings have length 1
  std::string activation = {};      ///< for the scores of a cross-encoder: "Sigmoid"
};

/// The prediction for one text. `label` and `score` are empty if a logit is not finite.
struct Prediction {
  TextRow row;
  std::vector<std::int32_t> input_ids;
  bool cut = false;              ///< whether the text was longer than `input_ids`
  std::vector<float> embedding;  ///< for embeddings; the members below are for labels
  std::vector<float> logits;
  /// The logits, or for regression with a cross-encoder their activations.
  std::vector<float> values;
  /// Softmax of the logits of classes, sigmoids of labels, or the activation of a cross-encoder (sigmoid, tanh) of
  /// each.
  std::vector<double> probabilities;
  std::optional<std::string>
      label;  ///< of the largest logit, the first among equals; only for single-label tasks
  std::optional<double> score;  ///< its probability
  bool is_finite = true;        ///< whether all logits or embedding values are finite
};

/// An encoded example, in results.
struct ReadTextResult {
  Json id = {};
  std::optional<std::string> file = {};
  std::string text = {};
  std::optional<std::string> text_pair = {};
  Json gold = {};
  bool cut = false;
  std::vector<std::int32_t> input_ids = {};
};
/// Numbers; null if not finite.
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
/// Data with a name, but without facts that require reading all rows, in results.
struct NamedDataResult {
  std::string source;
};
/// A line of the JSON result.
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

/// Returns `PredictFields`, or for embeddings `EmbedFields`.
Json predict_fields(const Prediction& prediction, const PredictionSubject& subject);

/// Predicts texts in batches. The results of a text are bit-identical whatever other texts are predicted with it: it is
/// always padded to the next multiple of 8 tokens, and a batch contains only texts of the same padded length.
class TextPredictor {
 public:
  /// For labels. `source` and `context` must outlive it. `text_cut`: see `text_limit`.
  TextPredictor(const TextModel& source, const TextCut& text_cut, std::int64_t batch_size,
                Context& context);
  /// For embeddings. `text_cut`: see `text_limit` of embedding models.
  TextPredictor(const EmbeddingModel& model, const TextCut& text_cut, std::int64_t batch_size,
                Context& context);

  /// Returns predictions in the order of `rows`. Throws `Interrupted`.
  std::vector<Prediction> predict(std::vector<TextRow> rows);

  /// Returns the number of logits or the length of a vector.
  std::int64_t width() const { return predictor_.width(); }
  /// Counts so far.
  std::int64_t texts = 0, tokens = 0, unknown = 0, cut = 0, empty = 0, non_finite = 0,
               replaced_bytes = 0;
  /// Returns warnings about the texts so far.
  std::vector<std::string> warnings() const;

 private:
  const TextModel& source_;
  Context& context_;
  PredictionKind kind_;
  TextLimit limit_;
  ScoreActivation activation_ = ScoreActivation::none;
  std::int64_t batch_size_;
  Predictor predictor_;
  RepeatedRuns runs_;
  std::int64_t checked_ = 0;  // tokens of the largest batch checked for memory

  void check_memory_for(std::int64_t batch, std::int64_t tokens);
};

/// A key of a prediction that `--fields` can choose.
struct PredictionField {
  std::string_view name;
  enum class Rows { all, pairs, labelled, of_many_files } of = Rows::all;  ///< rows that have it
  std::optional<PredictionKind> kind = {};  ///< the kind that has it; empty: any
  bool list = false;                        ///< a list: in CSV only on request, as JSON in one cell
  std::vector<Task> tasks = {};             ///< that have it; empty: any
  /// Whether it is an object for several outputs; CSV has a column for each, "value.NAME".
  bool of_outputs = false;
};
const std::vector<PredictionField>& prediction_fields();
/// Finds a field by name. Throws `UserError` for an unknown name.
const PredictionField& find_prediction_field(const std::string& name);

/// Returns the fields called `names`; if `names` is empty, all fields of predictions about the `subject`, for CSV
/// without lists other than the embedding. Throws `UserError` for a name that is unknown, repeated or not available.
std::vector<PredictionField> choose_fields(const std::vector<std::string>& names,
                                           const PredictionSubject& subject, bool csv);

/// Returns an object with the fields.
Json to_json(const Prediction& prediction, std::span<const PredictionField> fields,
             const PredictionSubject& subject);
/// Return lines of RFC 4180 with the names and with the values.
std::string csv_header(std::span<const PredictionField> fields, const PredictionSubject& subject);
std::string to_csv(const Prediction& prediction, std::span<const PredictionField> fields,
                   const PredictionSubject& subject);

}  // namespace hone
