#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/comparison.h"
#include "hone/metrics/metric_change.h"

/// Metrics of multi-label classification: each label is a separate yes or no.
///
///     MultiLabelEvaluation e = evaluate_multi_label({logits, /*classes=*/labels}, targets);
///     e.micro.f1, e.subset_accuracy, e.of_label[1].scores.recall
namespace hone {

/// Returns whether a label is predicted: from a logit of 0 on, which is a probability of one half.
inline bool predicts_label(float logit) { return logit >= 0; }

/// Metrics of constant predictions.
struct ConstantBaseline {
  /// Always predicting the more frequent value of each label, no in ties.
  double subset_accuracy = 0, hamming_accuracy = 0;
  /// Always predicting the best constant set of labels: as many of the most frequent ones as maximize it.
  double micro_f1 = 0;
};

/// A row with a NaN or an infinity has no prediction: it predicts no label, and counts as wrong for every label.
struct MultiLabelEvaluation {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, below 1 if some repeat others; the basis of intervals
  std::int64_t without_prediction =
      0;  ///< rows with a NaN or an infinity: not zero means that the model has diverged
  std::int64_t exact = 0;             ///< examples with all labels right
  double subset_accuracy = 0;         ///< exact / examples; NaN without examples
  Interval subset_accuracy_interval;  ///< Wilson, 95%
  double hamming_accuracy =
      0;  ///< right labels / labels: 1 - the Hamming loss; NaN without examples
  double loss =
      0;  ///< mean binary cross-entropy in nats; NaN without examples or with a NaN among the logits
  /// Averages as in scikit-learn with zero_division=0, where 0/0 counts as 0: `micro` from the counts of all labels
  /// together, `macro` over labels equally, `weighted` by their support, `samples` over examples. NaN without examples.
  PrecisionRecall micro, macro, weighted, samples;
  Interval micro_f1_interval;          ///< 95%: `ratio_interval`
  std::vector<ClassMetrics> of_label;  ///< (labels); 0/0 is NaN
  std::vector<RocAuc>
      auc_of_label;      ///< (labels), of the logits; NaN if all examples have the label, or none
  double macro_auc = 0;  ///< mean over the labels whose AUC is defined; NaN if there is none
  ConstantBaseline constant_baseline;
};

/// Counts of an example's labels, or of a label's examples: present, predicted, and both.
struct LabelCounts {
  std::int64_t support = 0, predicted = 0, found = 0;

  void add(const LabelCounts& other, std::int64_t times = 1);
  PrecisionRecall scores() const;  ///< 0/0 counts as 0
};

/// The part of an evaluation that follows from counts. Examples can be removed from it.
class LabelTally {
 public:
  explicit LabelTally(std::int64_t labels) : of_label_(static_cast<std::size_t>(labels)) {}

  /// Adds an example `times` times; -1 removes it. `targets`, (labels): 1 if it has the label. `predictions`, (labels):
  /// whether the model predicts it (`label_predictions`); empty without a prediction.
  void add(std::span<const float> targets, std::span<const char> predictions,
           std::int64_t times = 1);
  /// Sets counts and metrics of the labels, the accuracies, and the means; leaves intervals, AUCs, loss and baseline.
  void compute(MultiLabelEvaluation& evaluation) const;

 private:
  std::int64_t examples_ = 0, without_prediction_ = 0, exact_ = 0, right_ = 0;
  std::vector<LabelCounts> of_label_;
  PrecisionRecall samples_;  ///< sums over the examples
};

/// Returns whether a model predicts each label from a row of logits; empty for a row without a prediction.
std::vector<char> label_predictions(std::span<const float> row);

/// Evaluates logits. Targets are (examples, labels), 1 if the example has the label and 0 if not. `texts`: as in
/// `evidence` (hone/metrics/evidence.h). Throws `UserError` for any other target.
MultiLabelEvaluation evaluate_multi_label(const Logits& logits, std::span<const float> targets,
                                          std::span<const std::int32_t> texts = {});

/// Throws `UserError` naming the first of `targets`, (examples, labels), that is neither 0 nor 1.
void check_label_targets(std::span<const float> targets, std::int64_t labels);

/// A comparison of a candidate with its baseline on the same examples.
struct MultiLabelComparison {
  std::int64_t flips = 0;  ///< labels predicted differently, right or wrong
  double flip_share = 0;   ///< flips / (examples · labels); NaN without examples
  /// Counts examples with all labels right: `only_baseline` are those that only the baseline gets all right. Its flips
  /// are examples with any label predicted differently, and its margins are the logits.
  Comparison subset;
  MetricChange subset_accuracy;  ///< of `subset`
  MetricChange micro_f1;         ///< the main metric
};

/// Compares two models. Both logits and the targets describe the same examples in the same order. `texts`: as in
/// `evidence`. Throws `UserError` for a target that is neither 0 nor 1.
MultiLabelComparison compare_multi_label(const Logits& baseline, const Logits& candidate,
                                         std::span<const float> targets,
                                         std::span<const std::int32_t> texts = {});

/// Returns warnings about the evaluation, a sentence each: no label is predicted, some labels never, logits are not
/// finite. `labels` are the names of the labels.
std::vector<std::string> concerns(const MultiLabelEvaluation& evaluation,
                                  const std::vector<std::string>& labels);

}  // namespace hone
