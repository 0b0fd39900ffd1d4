#pragma once

#include <string>
#include <vector>

#include "hone/app/model_source.h"
#include "hone/metrics/classification.h"
#include "hone/metrics/comparison.h"
#include "hone/text/batching.h"

namespace hone {

/// What a model did on a data set.
struct Measurement {
  std::vector<float> logits;  ///< (examples, classes)
  std::int64_t classes = 0;
  Evaluation evaluation;
  double seconds = 0;

  Logits view() const { return {logits, classes}; }
};

/// Runs the model (quantized if it is) over `data`. `title` names the progress line.
Measurement measure(const Model& model, const EncodedSet& data, std::int32_t pad_id,
                    std::int64_t batch_size, Context& context, const std::string& title);

/// With Hugging Face's keys: eval_loss, eval_accuracy, eval_runtime, …, and per-class recall by label name.
Json to_json(const Measurement& measurement, const std::vector<std::string>& labels);

/// "parent" and "candidate" beside each other: accuracy, flips, McNemar, margin SNR.
Json to_json(const Comparison& comparison);

Json to_json(const Gate& gate);

}  // namespace hone
