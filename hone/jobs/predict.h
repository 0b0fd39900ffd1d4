#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/prediction.h"

/// Texts answered one after the other: the class of each, or its embedding.
///
///     Context context(/*threads=*/4);
///     predict_texts({.model = "my-model", .texts = {{.id = 1, .text = "a fine film"}}}, context).predictions[0].label
namespace hone {

/// Takes predictions as they come, in the order of the texts.
using PredictionSink = std::function<void(std::vector<Prediction>)>;

/// What a model is to be asked, and about which texts: those of a data set, of a stream, or given ones.
struct PredictJob {
  std::string model;         ///< as `open_model` takes it, or `open_embedding_model`
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none. Of labels alone.
  Question question = Question::label;
  DataOptions data = {};            ///< see `read_text_rows`; without a source, not these
  std::string split = {};           ///< part of the data
  TextStream stream = {};           ///< read where there is no data
  std::vector<TextRow> texts = {};  ///< where there is no stream either
  TextCut cut = {};                 ///< see `text_limit`
  std::int64_t batch_size = 32;
  std::uint64_t seed = 42;
  std::string output = {};               ///< file to write, .jsonl or .csv; empty: none
  bool overwrite = false;                ///< that file may be replaced
  std::vector<std::string> fields = {};  ///< what the file tells of each text, see `choose_fields`
  /// Of predictions that no file takes: told what they are about before the first text is asked for, it says who takes
  /// them. Null: the result has them all.
  std::function<PredictionSink(const PredictionSubject&)> reader = {};
  bool progress =
      true;  ///< show it where there are many texts; it disturbs between lines somebody reads
};

struct PredictResult {
  PredictionSubject subject;
  std::int64_t texts = 0;  ///< that were answered
  std::int64_t cut = 0;    ///< of them, longer than the model takes
  std::int64_t empty = 0;
  std::int64_t without_number = 0;           ///< whose figures are no numbers
  std::vector<Prediction> predictions = {};  ///< where nobody took them
};

/// Asks a model about texts, a few at first, then more at once; what each is given does not depend on the others.
/// Throws `UserError`, as `open_model`, `read_text_rows`, `choose_fields` and `write_file` do, and for a model without a
/// head that is asked for classes; `Interrupted`.
PredictResult predict_texts(const PredictJob& job, Context& context);

}  // namespace hone
