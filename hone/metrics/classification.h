#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/proportion.h"
#include "hone/metrics/roc_auc.h"

/// Metrics of a classifier's logits on labelled examples.
///
///     Evaluation result = evaluate({logits, /*classes=*/2}, labels);
///     result.accuracy, result.accuracy_interval.low, result.loss, result.of_class[1].recall
namespace hone {

/// A view of logits, (examples, classes), row by row.
struct Logits {
  std::span<const float> values;
  std::int64_t classes = 0;

  std::int64_t examples() const { return static_cast<std::int64_t>(values.size()) / classes; }
  std::span<const float> row(std::int64_t example) const {
    return values.subspan(static_cast<std::size_t>(example * classes),
                          static_cast<std::size_t>(classes));
  }
};

/// The prediction for a row with a NaN or an infinity: no class, so it is never right.
inline constexpr std::int32_t kNoPrediction = -1;

/// Returns the class of the largest logit, the first one in ties; `kNoPrediction` for a row with a NaN or an infinity.
std::int32_t prediction(std::span<const float> row);
/// Returns the name of a predicted class; "none (not a number)" for no prediction.
std::string prediction_name(std::int32_t prediction, const std::vector<std::string>& labels);
std::vector<std::int32_t> predictions(const Logits& logits);

/// Precision, recall and their harmonic mean.
struct PrecisionRecall {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};

/// Returns found / predicted, found / support, 2 found / (predicted + support); NaN for 0/0.
PrecisionRecall precision_recall(std::int64_t support, std::int64_t predicted, std::int64_t found);

/// Metrics of one class. 0/0 is NaN: the precision of a class that was never predicted, the recall of one without
/// examples, the F1 of one with neither.
struct ClassMetrics {
  std::int64_t support = 0;                      ///< examples of it
  std::int64_t predicted = 0;                    ///< examples predicted as it
  std::int64_t found = 0;                        ///< both
  PrecisionRecall scores;                        ///< `precision_recall`
  Interval precision_interval, recall_interval;  ///< Wilson, 95%
};

/// Computes the metrics from the counts. `evidence`: as in `wilson_interval`.
ClassMetrics class_metrics(std::int64_t support, std::int64_t predicted, std::int64_t found,
                           double evidence = 1);

struct Evaluation {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, below 1 if some repeat others; the basis of intervals
  std::int64_t correct = 0;
  std::int64_t without_prediction =
      0;  ///< rows with a NaN or an infinity: not zero means that the model has diverged
  double accuracy = 0;  ///< correct / examples; NaN without examples
  double majority_share =
      0;  ///< the accuracy of always predicting the most frequent label; NaN without examples
  Interval accuracy_interval;  ///< Wilson, 95%
  double loss =
      0;  ///< mean cross-entropy in nats; NaN without examples or with a NaN among the logits
  std::vector<ClassMetrics> of_class;  ///< (classes)
  /// Means over the classes as scikit-learn computes them with zero_division=0: 0/0 counts as 0, and classes that are
  /// neither among the labels nor among the predictions are left out. `macro` weights classes equally, `weighted` by
  /// their examples (its recall is the accuracy). NaN without examples.
  PrecisionRecall macro, weighted;
  RocAuc auc;  ///< of class 1 against class 0; NaN unless there are two classes
  std::vector<std::int64_t> confusion;  ///< (classes, classes), row: label, column: prediction

  std::int64_t count(std::int32_t label, std::int32_t predicted) const {
    return confusion[static_cast<std::size_t>(label) * of_class.size() +
                     static_cast<std::size_t>(predicted)];
  }
};

/// Adds an example to the counts of an evaluation `times` times; -1 removes it. `of_class` and `confusion` must have
/// their sizes.
void count_example(Evaluation& evaluation, std::int32_t label, std::int32_t prediction,
                   std::int64_t times = 1);
/// Computes the metrics that follow from the counts: accuracy, the metrics of the classes, their means. Leaves
/// intervals, loss and AUC unchanged.
void compute_from_counts(Evaluation& evaluation);

/// The inputs of the AUC of class 1.
struct ClassScores {
  std::vector<double> values;  ///< (examples): logit of class 1 minus that of class 0
  std::vector<char> positive;  ///< (examples)
};
/// Returns the scores from logits of two classes.
ClassScores scores_of_class_1(const Logits& logits, std::span<const std::int32_t> labels);

/// Evaluates logits with one label per row. `texts`: as in `evidence` (hone/metrics/evidence.h). Throws `UserError` for
/// a label that is not a class of the logits.
Evaluation evaluate(const Logits& logits, std::span<const std::int32_t> labels,
                    std::span<const std::int32_t> texts = {});

/// Returns the split and sample size of an evaluation: "validation, n = 1,072", with repeated texts "validation, n =
/// 1,072 (effective 850)". The cautions follow.
std::string split_text(const std::string& split, const Evaluation& evaluation,
                       std::span<const std::string> cautions = {});

/// Returns the class predicted for all examples although their labels differ: the model has collapsed.
std::optional<std::int32_t> only_predicted_class(const Evaluation& evaluation);

/// Returns "3 of 40 examples have no prediction: the model's outputs are not finite".
std::string without_prediction_text(std::int64_t without, std::int64_t examples);

/// Returns warnings about the evaluation, a sentence each: only one class is predicted, some never, logits are not
/// finite. `labels` name the classes.
std::vector<std::string> concerns(const Evaluation& evaluation,
                                  const std::vector<std::string>& labels);

/// Throws `UserError` naming the first of `labels` that is outside [0, classes).
void check_labels(std::span<const std::int32_t> labels, std::int64_t classes);

}  // namespace hone
