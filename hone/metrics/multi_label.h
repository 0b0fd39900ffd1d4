#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/comparison.h"
#include "hone/metrics/metric_change.h"

/// What logits say about examples that have any number of labels: each label is a yes or no of its own.
///
///     MultiLabelEvaluation e = evaluate_multi_label({logits, /*classes=*/labels}, targets);
///     e.micro.f1, e.subset_accuracy, e.of_label[1].figures.recall
namespace hone {

/// The answer on a label: yes from a logit of 0 on, which is a probability of one half.
inline bool says_yes(float logit) { return logit >= 0; }

/// What who looks at no text would reach.
struct MultiLabelBaseline {
  /// Always giving the most frequent answer of each label, no where both are as frequent.
  double subset_accuracy = 0, hamming_accuracy = 0;
  /// Always giving the labels that reach most so: the most frequent ones, up to one of them.
  double micro_f1 = 0;
};

/// A row with a NaN or an infinity has no prediction: it says yes to no label, and none of its answers is right.
struct MultiLabelEvaluation {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, as some repeat others; what intervals rest on
  std::int64_t without_prediction =
      0;  ///< rows with a NaN or an infinity: not zero means that the model has diverged
  std::int64_t exact = 0;             ///< examples all of whose answers are right
  double subset_accuracy = 0;         ///< exact / examples; NaN without examples
  Interval subset_accuracy_interval;  ///< Wilson, 95%
  double hamming_accuracy =
      0;  ///< right answers / answers: 1 - the Hamming loss; NaN without examples
  double loss =
      0;  ///< mean binary cross-entropy in nats; NaN without examples or with a NaN among the logits
  /// As scikit-learn averages them with zero_division=0, what is 0/0 counting as 0: `micro` of the counts of all labels
  /// together, `macro` over labels alike, `weighted` by their support, `samples` over examples. NaN without examples.
  PrecisionRecall micro, macro, weighted, samples;
  Interval micro_f1_interval;          ///< 95%: `ratio_interval`
  std::vector<ClassFigures> of_label;  ///< (labels); 0/0 is NaN
  std::vector<RocAuc>
      auc_of_label;      ///< (labels), of the logits; NaN where all or no example has the label
  double macro_auc = 0;  ///< mean over the labels whose area is defined; NaN where none is
  MultiLabelBaseline baseline;
};

/// Labels of an example, or examples of a label: how many there are, are predicted, and are both.
struct LabelCounts {
  std::int64_t support = 0, predicted = 0, found = 0;

  void add(const LabelCounts& other, std::int64_t times = 1);
  PrecisionRecall figures() const;  ///< what is 0/0 counts as 0
};

/// What of an evaluation follows from counts. Examples can be taken out again.
class LabelTally {
 public:
  explicit LabelTally(std::int64_t labels) : of_label_(static_cast<std::size_t>(labels)) {}

  /// Adds an example `times` times; -1 takes it out. `targets`, (labels): 1 where it has the label. `answers`, (labels):
  /// whether the model says yes (`label_answers`); empty without a prediction.
  void add(std::span<const float> targets, std::span<const char> answers, std::int64_t times = 1);
  /// Sets counts and figures of the labels, the accuracies, and the means; leaves intervals, areas, loss and baseline.
  void compute(MultiLabelEvaluation& evaluation) const;

 private:
  std::int64_t examples_ = 0, without_prediction_ = 0, exact_ = 0, right_ = 0;
  std::vector<LabelCounts> of_label_;
  PrecisionRecall samples_;  ///< sums over the examples
};

/// Whether a model says yes to each label of a row of logits; empty for a row without a prediction.
std::vector<char> label_answers(std::span<const float> row);

/// Targets are (examples, labels), 1 where the example has the label and 0 where not. `texts`: as in `evidence`
/// (hone/metrics/evidence.h). Throws `UserError` for another target.
MultiLabelEvaluation evaluate_multi_label(const Logits& logits, std::span<const float> targets,
                                          std::span<const std::int32_t> texts = {});

/// Throws `UserError` naming the first of `targets`, (examples, labels), that is neither 0 nor 1.
void check_label_targets(std::span<const float> targets, std::int64_t labels);

/// A candidate against its parent on the same examples.
struct MultiLabelComparison {
  std::int64_t flips = 0;  ///< answers that differ, right or wrong
  double flip_share = 0;   ///< flips / answers; NaN without examples
  /// Of examples all of whose answers are right: `only_parent` are those that are so in the parent alone. Its flips are
  /// examples with an answer that differs, and its margins the logits themselves.
  Comparison subset;
  MetricChange subset_accuracy;  ///< of `subset`
  MetricChange micro_f1;         ///< the primary one
};

/// Both logits and the targets describe the same examples in the same order. `texts`: as in `evidence`.
/// Throws `UserError` for a target that is neither 0 nor 1.
MultiLabelComparison compare_multi_label(const Logits& parent, const Logits& candidate,
                                         std::span<const float> targets,
                                         std::span<const std::int32_t> texts = {});

/// What has to be known before any figure is looked at, a sentence each: that every answer is no, that some labels are never
/// predicted, that logits are no numbers. `labels` are the names of the labels.
std::vector<std::string> concerns(const MultiLabelEvaluation& evaluation,
                                  const std::vector<std::string>& labels);

}  // namespace hone
