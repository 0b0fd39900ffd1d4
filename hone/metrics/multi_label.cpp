#include "hone/metrics/multi_label.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/mean.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

/// A weighted mean of metrics.
struct FigureMean {
  PrecisionRecall sum;
  double weights = 0;

  void add(const PrecisionRecall& scores, double weight) {
    sum.precision += weight * scores.precision;
    sum.recall += weight * scores.recall;
    sum.f1 += weight * scores.f1;
    weights += weight;
  }
  /// Returns 0 without weights, like zero_division=0.
  PrecisionRecall mean() const {
    if (weights == 0) return {};
    return {sum.precision / weights, sum.recall / weights, sum.f1 / weights};
  }
};

/// A model's predictions for the examples.
class LabelOutcomes {
 public:
  LabelOutcomes(const Logits& logits, std::span<const float> targets)
      : logits_(logits), targets_(targets) {}

  bool exist(std::int64_t example) const {
    return std::ranges::all_of(logits_.row(example), [](float x) { return std::isfinite(x); });
  }
  bool truth(std::int64_t example, std::int64_t label) const {
    return targets_[static_cast<std::size_t>(example * logits_.classes + label)] != 0;
  }
  /// Requires that the example has a prediction.
  bool yes(std::int64_t example, std::int64_t label) const {
    return predicts_label(logits_.row(example)[static_cast<std::size_t>(label)]);
  }
  LabelCounts counts(std::int64_t example) const {
    LabelCounts counts;
    const bool exists = exist(example);
    for (std::int64_t l = 0; l < logits_.classes; ++l)
      counts.add(counts_of(truth(example, l), exists && yes(example, l)));
    return counts;
  }
  bool all_right(std::int64_t example) const {
    if (!exist(example)) return false;
    for (std::int64_t l = 0; l < logits_.classes; ++l)
      if (yes(example, l) != truth(example, l)) return false;
    return true;
  }
  static LabelCounts counts_of(bool truth, bool yes) { return {truth, yes, truth && yes}; }

 private:
  Logits logits_;
  std::span<const float> targets_;
};

double binary_cross_entropy(double x, double y) {
  return std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x)));
}

RocAuc auc_of_label(const Logits& logits, const LabelOutcomes& outcomes, std::int64_t label,
                    double evidence) {
  std::vector<double> scores;
  std::vector<char> positive;
  for (std::int64_t i = 0; i < logits.examples(); ++i) {
    scores.push_back(logits.row(i)[static_cast<std::size_t>(label)]);
    positive.push_back(outcomes.truth(i, label) ? 1 : 0);
  }
  return roc_auc(scores, positive, evidence);
}

// Returns the mean over the labels whose AUC is defined.
double mean_area(const std::vector<RocAuc>& areas) {
  double sum = 0, count = 0;
  for (const RocAuc& area : areas) {
    if (std::isnan(area.value)) continue;
    sum += area.value;
    ++count;
  }
  return sum / count;
}

// Returns the F1 of predicting the most frequent labels for every text, with the best number of labels. No other set of
// as many labels finds more.
double best_constant_f1(const std::vector<ClassMetrics>& of_label, std::int64_t examples) {
  std::vector<std::int64_t> supports;
  LabelCounts all;
  for (const ClassMetrics& one : of_label) {
    supports.push_back(one.support);
    all.support += one.support;
  }
  std::ranges::sort(supports, std::greater());
  double best = 0;
  for (const std::int64_t support : supports) {
    all.predicted += examples;
    all.found += support;
    best = std::max(best, all.scores().f1);
  }
  return best;
}

ConstantBaseline constant_baseline_of(const LabelOutcomes& outcomes,
                                      const std::vector<ClassMetrics>& of_label,
                                      std::int64_t examples) {
  const auto labels = std::ssize(of_label);
  std::int64_t exact = 0, right = 0;
  for (std::int64_t i = 0; i < examples; ++i) {
    std::int64_t right_here = 0;
    for (std::int64_t l = 0; l < labels; ++l) {
      const bool usual = 2 * of_label[static_cast<std::size_t>(l)].support > examples;
      right_here += outcomes.truth(i, l) == usual;
    }
    right += right_here;
    exact += right_here == labels;
  }
  const auto n = static_cast<double>(examples);
  return {static_cast<double>(exact) / n,
          static_cast<double>(right) / (n * static_cast<double>(labels)),
          best_constant_f1(of_label, examples)};
}

void check_shape(const Logits& logits, std::span<const float> targets) {
  HONE_ASSERT(logits.values.size() == targets.size(), "{} logits, {} targets", logits.values.size(),
              targets.size());
  check_label_targets(targets, logits.classes);
}

// 10 log10(Σ baseline² / Σ (candidate - baseline)²)
double logit_snr_db(const Logits& baseline, const Logits& candidate) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < baseline.values.size(); ++i) {
    const double before = baseline.values[i], error = candidate.values[i] - before;
    signal += before * before;
    noise += error * error;
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

// Returns how many labels of an example are predicted differently; all if only one model has a prediction.
std::int64_t differing_labels(const LabelOutcomes& a, const LabelOutcomes& b, std::int64_t example,
                              std::int64_t labels) {
  const bool in_a = a.exist(example), in_b = b.exist(example);
  if (in_a != in_b) return labels;
  std::int64_t count = 0;
  for (std::int64_t l = 0; in_a && l < labels; ++l) count += a.yes(example, l) != b.yes(example, l);
  return count;
}

// The contribution of each example to a model's micro F1, linearised: of 2 Σ found / Σ (predicted + support).
struct F1Contributions {
  double f1 = 0;
  double total = 0;            ///< Σ (predicted + support)
  std::vector<double> values;  ///< (examples)

  F1Contributions(const LabelOutcomes& outcomes, std::int64_t examples) {
    std::vector<LabelCounts> counts;
    LabelCounts all;
    for (std::int64_t i = 0; i < examples; ++i) all.add(counts.emplace_back(outcomes.counts(i)));
    f1 = all.scores().f1;
    total = static_cast<double>(all.predicted + all.support);
    for (const LabelCounts& one : counts)
      values.push_back(total == 0 ? 0
                                  : (2 * static_cast<double>(one.found) -
                                     f1 * static_cast<double>(one.predicted + one.support)) /
                                        total);
  }
};

// One more label found adds 2 to the numerator of F1.
double least_contribution(const F1Contributions& contributions) {
  return 2 / std::max(1.0, contributions.total);
}

Interval micro_f1_interval(const LabelOutcomes& outcomes, std::int64_t examples,
                           std::span<const std::int32_t> texts) {
  const F1Contributions contributions(outcomes, examples);
  std::vector<char> wrong;
  for (std::int64_t i = 0; i < examples; ++i) wrong.push_back(outcomes.all_right(i) ? 0 : 1);
  return ratio_interval(
      kMicroF1, contributions.f1,
      {contributions.values, wrong, least_contribution(contributions), /*is_discrete=*/true},
      texts);
}

MetricChange micro_f1_change(const LabelOutcomes& baseline, const LabelOutcomes& candidate,
                             std::span<const char> differ, std::span<const std::int32_t> texts) {
  const auto examples = std::ssize(differ);
  const F1Contributions before(baseline, examples), after(candidate, examples);
  std::vector<double> values(differ.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = after.values[i] - before.values[i];
  const double change =
      examples == 0 ? std::numeric_limits<double>::quiet_NaN() : after.f1 - before.f1;
  return paired_change(kMicroF1, change,
                       {values, differ, least_contribution(before), /*is_discrete=*/true}, texts);
}

}  // namespace

void check_label_targets(std::span<const float> targets, std::int64_t labels) {
  const auto bad = std::ranges::find_if(targets, [](float t) { return t != 0 && t != 1; });
  if (bad == targets.end()) return;
  const auto at = bad - targets.begin();
  fail(
      "targets: example {} has {} for label {}, expected 1 where it has the label and 0 where not; "
      "check the label columns",
      at / labels, *bad, at % labels);
}

void LabelCounts::add(const LabelCounts& other, std::int64_t times) {
  support += times * other.support;
  predicted += times * other.predicted;
  found += times * other.found;
}

PrecisionRecall LabelCounts::scores() const {
  const auto ratio = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {ratio(found, predicted), ratio(found, support), ratio(2 * found, predicted + support)};
}

std::vector<char> label_predictions(std::span<const float> row) {
  std::vector<char> predictions;
  if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) return predictions;
  for (const float x : row) predictions.push_back(predicts_label(x) ? 1 : 0);
  return predictions;
}

void LabelTally::add(std::span<const float> targets, std::span<const char> predictions,
                     std::int64_t times) {
  const bool exists = !predictions.empty();
  LabelCounts of_example;
  std::int64_t right = 0;
  for (std::size_t l = 0; l < targets.size(); ++l) {
    const bool truth = targets[l] != 0, yes = exists && predictions[l] != 0;
    const LabelCounts one = LabelOutcomes::counts_of(truth, yes);
    of_label_[l].add(one, times);
    of_example.add(one);
    right += exists && yes == truth;
  }
  examples_ += times;
  without_prediction_ += exists ? 0 : times;
  exact_ += right == std::ssize(targets) ? times : 0;
  right_ += times * right;
  const auto weight = static_cast<double>(times);
  const PrecisionRecall scores = of_example.scores();
  samples_.precision += weight * scores.precision;
  samples_.recall += weight * scores.recall;
  samples_.f1 += weight * scores.f1;
}

void LabelTally::compute(MultiLabelEvaluation& e) const {
  const auto n = static_cast<double>(examples_), labels = static_cast<double>(of_label_.size());
  e.examples = examples_;
  e.without_prediction = without_prediction_;
  e.exact = exact_;
  e.subset_accuracy = static_cast<double>(exact_) / n;
  e.hamming_accuracy = static_cast<double>(right_) / (n * labels);
  e.of_label.resize(of_label_.size());
  LabelCounts all;
  FigureMean macro, weighted;
  for (std::size_t l = 0; l < of_label_.size(); ++l) {
    const LabelCounts& one = of_label_[l];
    const PrecisionRecall scores = one.scores();
    all.add(one);
    macro.add(scores, 1);
    weighted.add(scores, static_cast<double>(one.support));
    ClassMetrics& shown = e.of_label[l];
    shown.support = one.support;
    shown.predicted = one.predicted;
    shown.found = one.found;
    shown.scores = precision_recall(one.support, one.predicted, one.found);
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const bool none = examples_ == 0;
  const PrecisionRecall undefined = {kNone, kNone, kNone};
  e.micro = none ? undefined : all.scores();
  e.macro = none ? undefined : macro.mean();
  e.weighted = none ? undefined : weighted.mean();
  e.samples = {samples_.precision / n, samples_.recall / n, samples_.f1 / n};
}

MultiLabelEvaluation evaluate_multi_label(const Logits& logits, std::span<const float> targets,
                                          std::span<const std::int32_t> texts) {
  check_shape(logits, targets);
  const LabelOutcomes outcomes(logits, targets);
  MultiLabelEvaluation result;
  result.examples = logits.examples();
  result.evidence = evidence(texts);
  LabelTally tally(logits.classes);
  std::vector<double> losses;
  for (std::int64_t i = 0; i < result.examples; ++i) {
    const auto at = static_cast<std::size_t>(i * logits.classes);
    tally.add(targets.subspan(at, static_cast<std::size_t>(logits.classes)),
              label_predictions(logits.row(i)));
    for (std::int64_t l = 0; l < logits.classes; ++l)
      losses.push_back(
          binary_cross_entropy(logits.row(i)[static_cast<std::size_t>(l)], outcomes.truth(i, l)));
  }
  tally.compute(result);
  result.loss = mean_in_any_order(std::move(losses));
  for (std::int64_t l = 0; l < logits.classes; ++l) {
    ClassMetrics& one = result.of_label[static_cast<std::size_t>(l)];
    one = class_metrics(one.support, one.predicted, one.found, result.evidence);
    result.auc_of_label.push_back(auc_of_label(logits, outcomes, l, result.evidence));
  }
  result.macro_auc = mean_area(result.auc_of_label);
  result.subset_accuracy_interval = wilson_interval(result.exact, result.examples, result.evidence);
  result.constant_baseline = constant_baseline_of(outcomes, result.of_label, result.examples);
  if (result.examples == 0) {
    result.constant_baseline.micro_f1 = std::numeric_limits<double>::quiet_NaN();
    result.micro_f1_interval = {0, 1};
  } else {
    result.micro_f1_interval = micro_f1_interval(outcomes, result.examples, texts);
  }
  return result;
}

MultiLabelComparison compare_multi_label(const Logits& baseline, const Logits& candidate,
                                         std::span<const float> targets,
                                         std::span<const std::int32_t> texts) {
  check_shape(baseline, targets);
  check_shape(candidate, targets);
  const LabelOutcomes before(baseline, targets), after(candidate, targets);
  const auto examples = static_cast<std::size_t>(baseline.examples());
  std::vector<char> was_right(examples), is_right(examples), differ(examples);
  MultiLabelComparison result;
  for (std::size_t i = 0; i < examples; ++i) {
    const auto example = static_cast<std::int64_t>(i);
    was_right[i] = before.all_right(example) ? 1 : 0;
    is_right[i] = after.all_right(example) ? 1 : 0;
    const std::int64_t flips = differing_labels(before, after, example, baseline.classes);
    differ[i] = flips > 0 ? 1 : 0;
    result.flips += flips;
  }
  result.flip_share = static_cast<double>(result.flips) / static_cast<double>(targets.size());
  result.subset = compare_predictions(was_right, is_right, differ, texts);
  result.subset.margin_snr_db = logit_snr_db(baseline, candidate);
  result.subset_accuracy = accuracy_change(result.subset);
  result.subset_accuracy.metric = kSubsetAccuracy;
  result.micro_f1 = micro_f1_change(before, after, differ, texts);
  result.micro_f1.notes += differing_text(result.flips, std::ssize(targets), "label");
  if (result.flips > 0)  // tables count examples
    result.micro_f1.notes += fmt::format(", on {} of {} examples", grouped(result.subset.flips),
                                         grouped(result.subset.examples));
  return result;
}

std::vector<std::string> concerns(const MultiLabelEvaluation& e,
                                  const std::vector<std::string>& labels) {
  std::vector<std::string> sentences;
  const auto never = [](const ClassMetrics& one) { return one.support > 0 && one.predicted == 0; };
  const bool predicts_none =
      std::ranges::all_of(e.of_label, [](const ClassMetrics& one) { return one.predicted == 0; });
  if (predicts_none && std::ranges::any_of(e.of_label, never)) {
    sentences.push_back(
        fmt::format("the model predicts no label for any of {} examples", grouped(e.examples)));
  } else if (std::ranges::any_of(e.of_label, never)) {
    std::vector<std::string> names;
    for (std::size_t l = 0; l < e.of_label.size(); ++l)
      if (never(e.of_label[l]))
        names.push_back(
            fmt::format("'{}' (n = {})", shown_name(labels[l]), grouped(e.of_label[l].support)));
    constexpr std::size_t kNamed = 6;
    const std::size_t more = names.size() - std::min(names.size(), kNamed);
    names.resize(names.size() - more);
    if (more > 0) names.push_back(fmt::format("{} more", more));
    sentences.push_back(fmt::format("the model never predicts {}", fmt::join(names, ", ")));
  }
  if (e.without_prediction > 0)
    sentences.push_back(without_prediction_text(e.without_prediction, e.examples));
  return sentences;
}

}  // namespace hone
