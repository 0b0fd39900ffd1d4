#include "hone/metrics/task_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/percentage.h"
#include "hone/metrics/evidence.h"

namespace hone {
namespace {

Outputs numbers(const Logits& outputs) { return {outputs.values, outputs.classes}; }

// Returns the members that all tasks share, from the metrics of one.
template <typename E>
TaskEvaluation task_evaluation(const MetricName& metric, double value, const Interval& interval,
                               double constant_baseline, double loss, E details) {
  return {.metric = metric,
          .value = value,
          .interval = interval,
          .constant_baseline = constant_baseline,
          .examples = details.examples,
          .evidence = details.evidence,
          .without_prediction = details.without_prediction,
          .loss = loss,
          .details = std::move(details)};
}

TaskEvaluation of_classes(Evaluation e) {
  return task_evaluation(kAccuracy, e.accuracy, e.accuracy_interval, e.majority_share, e.loss, e);
}

TaskEvaluation of_numbers(RegressionEvaluation e) {
  return task_evaluation(kR2, e.errors.r2, e.r2_interval, e.constant_baseline.r2, e.errors.mse, e);
}

TaskEvaluation of_labels(MultiLabelEvaluation e) {
  return task_evaluation(kMicroF1, e.micro.f1, e.micro_f1_interval, e.constant_baseline.micro_f1,
                         e.loss, e);
}

// Returns whether the metric is defined, and may be no better than a constant prediction: any model could preserve
// that.
bool may_be_baseline(const TaskEvaluation& e) {
  return e.examples > 0 && !std::isnan(e.value) && !(e.interval.low > e.constant_baseline);
}

TaskEvaluation evaluate_all(const Logits& outputs, const Truth& truth) {
  switch (truth.task) {
    case Task::regression:
      return of_numbers(evaluate_regression(numbers(outputs), truth.targets, truth.texts));
    case Task::multi_label:
      return of_labels(evaluate_multi_label(outputs, truth.targets, truth.texts));
    case Task::single_label:
      break;
  }
  return of_classes(evaluate(outputs, truth.classes, truth.texts));
}

}  // namespace

UnseenExamples::UnseenExamples(const Truth& truth)
    : task_(truth.task), rows_(truth.unseen.begin(), truth.unseen.end()) {
  const std::size_t all = std::max(truth.classes.size(), truth.texts.size());
  const std::size_t width = all == 0 ? 0 : truth.targets.size() / all;
  std::map<std::int32_t, std::int32_t> numbers;  // of texts, renumbered from 0
  for (const std::int64_t row : rows_) {
    const auto i = static_cast<std::size_t>(row);
    if (i < truth.classes.size()) classes_.push_back(truth.classes[i]);
    if (i < truth.texts.size())
      texts_.push_back(
          numbers.emplace(truth.texts[i], static_cast<std::int32_t>(numbers.size())).first->second);
    const auto targets = truth.targets.subspan(i * width, width);
    targets_.insert(targets_.end(), targets.begin(), targets.end());
  }
}

Truth UnseenExamples::truth() const {
  return {.task = task_, .classes = classes_, .targets = targets_, .texts = texts_};
}

std::vector<float> UnseenExamples::rows_of(const Logits& outputs) const {
  std::vector<float> some;
  for (const std::int64_t row : rows_) {
    const std::span<const float> one = outputs.row(row);
    some.insert(some.end(), one.begin(), one.end());
  }
  return some;
}

TaskEvaluation evaluate(const Logits& outputs, const Truth& truth) {
  TaskEvaluation all = evaluate_all(outputs, truth);
  if (truth.unseen.empty()) return all;
  const UnseenExamples unseen(truth);
  const std::vector<float> rows = unseen.rows_of(outputs);
  const TaskEvaluation some = evaluate_all({rows, outputs.classes}, unseen.truth());
  all.unseen = UnseenMetric{some.value, some.interval, some.examples, some.evidence};
  return all;
}

std::string constant_prediction_text(const MetricName& metric) {
  if (metric == kAccuracy) return "always predicting the most frequent class";
  if (metric == kR2) return "always predicting the mean";
  return "the best constant set of labels";
}

std::string constant_baseline_text(const MetricName& metric, double constant_baseline) {
  return fmt::format("{} scores {}", constant_prediction_text(metric),
                     share_text(constant_baseline));
}

std::string constant_baseline_text(const TaskEvaluation& e) {
  return constant_baseline_text(e.metric, e.constant_baseline);
}

std::string constant_baseline_concern(const TaskEvaluation& e) {
  if (!may_be_baseline(e)) return "";
  return fmt::format(
      "{} is not shown to be above that of a constant prediction: {} (95% CI {} to {}), and {}",
      e.metric.text, share_text(e.value), percent_number(e.interval.low),
      percent_number(e.interval.high), constant_baseline_text(e));
}

std::vector<std::string> concerns(const TaskEvaluation& e, const std::vector<std::string>& labels) {
  const auto* several = std::get_if<MultiLabelEvaluation>(&e.details);
  std::vector<std::string> sentences = e.classes() != nullptr ? concerns(*e.classes(), labels)
                                       : several != nullptr
                                           ? concerns(*several, labels)
                                           : concerns(std::get<RegressionEvaluation>(e.details));
  if (sentences.empty() && may_be_baseline(e)) sentences.push_back(constant_baseline_concern(e));
  // These intervals rely on the scatter of texts, which a handful does not show: for 3 to 5 texts with Gaussian errors
  // they cover 90%.
  constexpr std::int64_t kScatterIsSeen = 10;
  const std::int64_t effective = effective_examples(e.examples, e.evidence);
  if (e.classes() == nullptr && e.examples > 0 && !std::isnan(e.value) &&
      effective < kScatterIsSeen)
    sentences.push_back(fmt::format(
        "the 95% interval of {} rests on {} {}: with fewer than {} it can be too narrow",
        e.metric.text, effective, effective == 1 ? "example" : "examples", kScatterIsSeen));
  return sentences;
}

std::string split_text(const std::string& split, const TaskEvaluation& e,
                       std::span<const std::string> cautions) {
  return split_text(split, e.examples, effective_examples(e.examples, e.evidence), cautions);
}

namespace {

TaskComparison compare_outputs(const Logits& baseline, const Logits& candidate,
                               const Truth& truth) {
  if (truth.task == Task::single_label) {
    const Comparison c = compare(baseline, candidate, truth.classes, truth.texts);
    return {.change = accuracy_change(c), .counted = c, .snr_db = c.margin_snr_db};
  }
  if (truth.task == Task::regression) {
    RegressionComparison c =
        compare_regression(numbers(baseline), numbers(candidate), truth.targets, truth.texts);
    return {.change = std::move(c.r2), .snr_db = c.snr_db, .mean_shift = c.mean_shift};
  }
  MultiLabelComparison c = compare_multi_label(baseline, candidate, truth.targets, truth.texts);
  return {.change = std::move(c.micro_f1),
          .counted = c.subset,
          .snr_db = c.subset.margin_snr_db,
          .label_flip_share = c.flip_share};
}

}  // namespace

TaskComparison compare(const Logits& baseline, const Logits& candidate, const Truth& truth) {
  TaskComparison comparison = compare_outputs(baseline, candidate, truth);
  // Adds notes about these texts; the verdict on other texts is unchanged.
  if (!baseline.values.empty() && std::ranges::equal(baseline.values, candidate.values))
    comparison.change.notes += "; all outputs are the same numbers";
  if (const TaskEvaluation before = evaluate(baseline, truth); may_be_baseline(before))
    comparison.change.notes += fmt::format("; the baseline is not shown to be better than {}",
                                           constant_prediction_text(before.metric));
  if (!truth.unseen.empty()) {
    const UnseenExamples unseen(truth);
    const std::vector<float> a = unseen.rows_of(baseline), b = unseen.rows_of(candidate);
    comparison.unseen =
        compare_outputs({a, baseline.classes}, {b, candidate.classes}, unseen.truth()).change;
  }
  return comparison;
}

}  // namespace hone
