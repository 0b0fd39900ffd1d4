#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/prediction.h"

/// Prediction of texts one by one: the class of each, or its embedding.
///
///     Context context(/*threads=*/4);
///     predict_texts({.model = "my-model", .texts = {{.id = 1, .text = "a fine film"}}}, context).predictions[0].label
namespace hone {

/// Receives predictions as they are computed, in the order of the texts.
using PredictionSink = std::function<void(std::vector<Prediction>)>;

/// A model and the texts to predict: from a dataset, from a stream, or given directly.
struct PredictJob {
  std::string model;         ///< see `open_model` or `open_embedding_model`
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none; for labels only
  PredictionKind kind = PredictionKind::label;
  DataOptions data = {};            ///< see `read_text_rows`; ignored without a source
  std::string split = {};           ///< split of the data
  TextStream stream = {};           ///< used without data
  std::vector<TextRow> texts = {};  ///< used without data and stream
  TextCut cut = {};                 ///< see `text_limit`
  std::int64_t batch_size = 32;
  std::uint64_t seed = 42;
  std::string output = {};               ///< .jsonl or .csv file to write; empty: none
  bool overwrite = false;                ///< replace an existing file
  std::vector<std::string> fields = {};  ///< of the file, see `choose_fields`
  /// Returns the sink for predictions that are not written to a file; called with their subject before the first text
  /// is read. Null: the result contains all predictions.
  std::function<PredictionSink(const PredictionSubject&)> open_sink = {};
  bool progress = true;  ///< show progress for many texts; not useful between printed lines
};

struct PredictResult {
  PredictionSubject subject;
  std::int64_t texts = 0;  ///< number of predicted texts
  std::int64_t cut = 0;    ///< of these, truncated
  std::int64_t empty = 0;
  std::int64_t non_finite = 0;               ///< with values that are not finite
  std::vector<Prediction> predictions = {};  ///< if no sink or file received them
};

/// Predicts texts, a few at first, then more at once. The prediction of a text does not depend on the others. Throws
/// `UserError` like `open_model`, `read_text_rows`, `choose_fields` and `write_file`, and if classes are requested from
/// a model without a head; `Interrupted`.
PredictResult predict_texts(const PredictJob& job, Context& context);

}  // namespace hone
