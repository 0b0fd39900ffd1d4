#include "hone/metrics/classification.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/mean.h"

namespace hone {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// log(sum(exp(row))) - row[label], shifted by the maximum so that nothing overflows.
double cross_entropy(std::span<const float> row, std::int32_t label) {
  const double top = *std::ranges::max_element(row);
  double sum = 0;
  for (float logit : row) sum += std::exp(logit - top);
  return std::log(sum) + top - row[static_cast<std::size_t>(label)];
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(whole);
}

// Returns the mean over the classes that occur, weighted by `weight`; 0/0 counts as 0.
template <typename Weight>
PrecisionRecall mean(const std::vector<ClassMetrics>& classes, Weight&& weight) {
  PrecisionRecall sum;
  double weights = 0;
  const auto or_zero = [](double value) { return std::isnan(value) ? 0 : value; };
  for (const ClassMetrics& one : classes) {
    if (one.support + one.predicted == 0) continue;
    const double w = weight(one);
    weights += w;
    sum.precision += w * or_zero(one.scores.precision);
    sum.recall += w * or_zero(one.scores.recall);
    sum.f1 += w * or_zero(one.scores.f1);
  }
  return {sum.precision / weights, sum.recall / weights, sum.f1 / weights};
}

RocAuc auc_of(const Logits& logits, std::span<const std::int32_t> labels, double evidence) {
  if (logits.classes != 2) return {kNaN, {0, 1}};
  const ClassScores scores = scores_of_class_1(logits, labels);
  return roc_auc(scores.values, scores.positive, evidence);
}

}  // namespace

ClassScores scores_of_class_1(const Logits& logits, std::span<const std::int32_t> labels) {
  ClassScores scores;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const float> row = logits.row(static_cast<std::int64_t>(i));
    scores.values.push_back(double{row[1]} - double{row[0]});
    scores.positive.push_back(labels[i] == 1 ? 1 : 0);
  }
  return scores;
}

PrecisionRecall precision_recall(std::int64_t support, std::int64_t predicted, std::int64_t found) {
  return {share(found, predicted), share(found, support), share(2 * found, predicted + support)};
}

ClassMetrics class_metrics(std::int64_t support, std::int64_t predicted, std::int64_t found,
                           double evidence) {
  return {support,
          predicted,
          found,
          precision_recall(support, predicted, found),
          wilson_interval(found, predicted, evidence),
          wilson_interval(found, support, evidence)};
}

std::int32_t prediction(std::span<const float> row) {
  if (!std::ranges::all_of(row, [](float logit) { return std::isfinite(logit); }))
    return kNoPrediction;
  return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
}

std::string prediction_name(std::int32_t prediction, const std::vector<std::string>& labels) {
  return prediction == kNoPrediction ? "none (not a number)"
                                     : labels[static_cast<std::size_t>(prediction)];
}

std::vector<std::int32_t> predictions(const Logits& logits) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(logits.examples()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = prediction(logits.row(static_cast<std::int64_t>(i)));
  }
  return result;
}

void check_labels(std::span<const std::int32_t> labels, std::int64_t classes) {
  const auto bad = std::ranges::find_if(
      labels, [&](std::int32_t label) { return label < 0 || label >= classes; });
  if (bad == labels.end()) return;
  fail(
      "labels: example {} has label {}, but the model has {} classes (labels 0 to {}); check "
      "the label column "
      "and the model's num_labels",
      bad - labels.begin(), *bad, classes, classes - 1);
}

void count_example(Evaluation& e, std::int32_t label, std::int32_t prediction, std::int64_t times) {
  const auto of = static_cast<std::size_t>(label);
  e.examples += times;
  e.of_class[of].support += times;
  if (prediction == kNoPrediction) {
    e.without_prediction += times;
    return;
  }
  const auto as = static_cast<std::size_t>(prediction);
  e.of_class[as].predicted += times;
  e.confusion[of * e.of_class.size() + as] += times;
  if (of != as) return;
  e.of_class[of].found += times;
  e.correct += times;
}

void compute_from_counts(Evaluation& e) {
  e.accuracy = share(e.correct, e.examples);
  for (ClassMetrics& one : e.of_class)
    one.scores = precision_recall(one.support, one.predicted, one.found);
  e.macro = mean(e.of_class, [](const ClassMetrics&) { return 1.0; });
  e.weighted =
      mean(e.of_class, [](const ClassMetrics& one) { return static_cast<double>(one.support); });
}

Evaluation evaluate(const Logits& logits, std::span<const std::int32_t> labels,
                    std::span<const std::int32_t> texts) {
  HONE_ASSERT(static_cast<std::size_t>(logits.examples()) == labels.size(),
              "{} rows of logits, {} labels", logits.examples(), labels.size());
  check_labels(labels, logits.classes);
  const auto classes = static_cast<std::size_t>(logits.classes);
  Evaluation result;
  result.evidence = evidence(texts);
  result.of_class.resize(classes);
  result.confusion.assign(classes * classes, 0);
  std::vector<double> losses;
  losses.reserve(labels.size());
  const std::vector<std::int32_t> predicted = predictions(logits);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    losses.push_back(cross_entropy(logits.row(static_cast<std::int64_t>(i)), labels[i]));
    count_example(result, labels[i], predicted[i]);
  }
  compute_from_counts(result);
  std::int64_t most = 0;
  for (ClassMetrics& one : result.of_class) {
    one = class_metrics(one.support, one.predicted, one.found, result.evidence);
    most = std::max(most, one.support);
  }
  result.majority_share = share(most, result.examples);
  result.accuracy_interval = wilson_interval(result.correct, result.examples, result.evidence);
  result.loss = mean_in_any_order(std::move(losses));
  result.auc = auc_of(logits, labels, result.evidence);
  return result;
}

std::string split_text(const std::string& split, const Evaluation& e,
                       std::span<const std::string> cautions) {
  return split_text(split, e.examples, effective_examples(e.examples, e.evidence), cautions);
}

std::optional<std::int32_t> only_predicted_class(const Evaluation& e) {
  const auto all = [&](auto member) -> std::optional<std::int32_t> {
    const auto found = std::ranges::find_if(
        e.of_class, [&](const ClassMetrics& one) { return one.*member == e.examples; });
    if (found == e.of_class.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - e.of_class.begin());
  };
  if (e.examples == 0 || all(&ClassMetrics::support)) return std::nullopt;
  return all(&ClassMetrics::predicted);
}

std::string without_prediction_text(std::int64_t without, std::int64_t examples) {
  return fmt::format("{} of {} examples have no prediction: the model's outputs are not finite",
                     grouped(without), grouped(examples));
}

std::vector<std::string> concerns(const Evaluation& e, const std::vector<std::string>& labels) {
  std::vector<std::string> sentences;
  if (const auto only = only_predicted_class(e)) {
    const auto label = static_cast<std::size_t>(*only);
    sentences.push_back(fmt::format(
        "the model predicts one class only, '{1}': correct for {2} of {0} examples",
        grouped(e.examples), shown_name(labels[label]), grouped(e.of_class[label].support)));
  } else {
    std::vector<std::string> never;
    for (std::size_t c = 0; c < e.of_class.size(); ++c)
      if (e.of_class[c].support > 0 && e.of_class[c].predicted == 0)
        never.push_back(
            fmt::format("'{}' (n = {})", shown_name(labels[c]), grouped(e.of_class[c].support)));
    constexpr std::size_t kNamed = 6;
    const std::size_t more = never.size() - std::min(never.size(), kNamed);
    never.resize(never.size() - more);
    if (more > 0) never.push_back(fmt::format("{} more", more));
    if (!never.empty())
      sentences.push_back(fmt::format("the model never predicts {}", fmt::join(never, ", ")));
  }
  if (e.without_prediction > 0)
    sentences.push_back(without_prediction_text(e.without_prediction, e.examples));
  return sentences;
}

}  // namespace hone
