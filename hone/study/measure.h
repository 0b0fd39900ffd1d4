#pragma once

#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/metrics/classification.h"
#include "hone/metrics/verdict.h"
#include "hone/models/model_source.h"

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
Measurement measure(const Model& model, const EncodedSet& data, std::int64_t batch_size,
                    Context& context, const std::string& title,
                    ProgressEnd end = ProgressEnd::stays);

/// "Accuracy on test, n = 4 000: 80.6 % (95 %: 79.4 to 81.8); the most frequent class alone makes 50.1 %."
std::string accuracy_headline(const std::string& measured_on, const Evaluation& evaluation);

/// "the most frequent class alone makes 50.1 %"
std::string majority_text(const Evaluation& evaluation);

/// With Hugging Face's keys: eval_loss, eval_accuracy, eval_f1, eval_runtime, … (see hone/metrics/metric.h), the figures
/// of each class by its name, and the confusion matrix. What is not defined is null.
Json to_json(const Measurement& measurement, const std::vector<std::string>& labels);

/// verdict, margin, accuracy_change with its interval, examples_needed, summary; of seeds grounds and seeds_needed.
Json to_json(const Verdict& verdict);

/// "parent" and "candidate" beside each other: flips, McNemar, margin SNR, and the verdict.
Json to_json(const Comparison& comparison, const Verdict& verdict);

/// A gate's verdict, and whether it passes: what is not shown to be kept does not.
Json gate_json(const Verdict& verdict);
/// "Gate on test, n = 200 (0.50 points may be lost): passed."
std::string gate_text(const Verdict& verdict, const std::string& measured_on);

}  // namespace hone
