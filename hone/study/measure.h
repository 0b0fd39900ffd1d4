#pragma once

#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/metrics/verdict.h"
#include "hone/models/model_source.h"
#include "hone/report/table.h"

namespace hone {

/// What a model did on a data set.
struct Measurement {
  std::vector<float> logits;  ///< (examples, outputs)
  std::int64_t outputs = 0;
  TaskEvaluation evaluation;
  double seconds = 0;

  Logits view() const { return {logits, outputs}; }
};

/// Runs the model (quantized if it is) over `data`. `title` names the progress line.
Measurement measure(const Model& model, const EncodedSet& data, std::int64_t batch_size,
                    Context& context, const std::string& title,
                    ProgressEnd end = ProgressEnd::stays);

/// "Accuracy on test, n = 4,000: 80.6% (95% CI 79.4 to 81.8); the most frequent class alone makes 50.1%."
std::string figure_headline(const std::string& measured_on, const TaskEvaluation& evaluation);

/// The figure at the begin of a sentence: "Accuracy", "R²", "Micro F1".
std::string figure_title(const FigureName& figure);

/// The name of the figure by which what a result has measured is judged (`eval_figure`); of results of before that key, accuracy.
FigureName figure_of(const Json& measurement);
/// Its value and interval there; NaN where it is not defined.
Estimate figure_estimate(const Json& measurement);
/// The baseline of what a result has measured (NaN where it is not defined), and `baseline_text` of it.
double baseline_of(const Json& measurement);
std::string baseline_text(const Json& measurement);

/// With Hugging Face's keys: eval_loss, eval_accuracy, eval_f1, eval_runtime, … (see hone/metrics/metric.h), the figures
/// of each class with the confusion matrix, of each label or of each number, by their names. What is not defined is null.
Json to_json(const Measurement& measurement, const std::vector<std::string>& labels);

/// verdict, figure, margin, the change of the figure with its interval (accuracy_change, r2_change, …), examples_needed,
/// summary; of seeds grounds and seeds_needed.
Json to_json(const Verdict& verdict);

/// The same without the figure; `change` is the key of its change.
Json verdict_json(const Verdict& verdict, const std::string& change);

/// "parent" and "candidate" beside each other: flips, McNemar, margin SNR, and the verdict; what of these the task has.
Json to_json(const TaskComparison& comparison, const Verdict& verdict);

}  // namespace hone
