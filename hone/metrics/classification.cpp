#include "hone/metrics/classification.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::int32_t prediction(std::span<const float> row) {
  if (std::ranges::any_of(row, [](float logit) { return std::isnan(logit); })) return kNoPrediction;
  return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
}

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

}  // namespace

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
      "labels: example {} has label {}, the model tells {} classes apart (labels 0 to {}); check "
      "the label column "
      "and the model's num_labels",
      bad - labels.begin(), *bad, classes, classes - 1);
}

Evaluation evaluate(const Logits& logits, std::span<const std::int32_t> labels) {
  HONE_ASSERT(static_cast<std::size_t>(logits.examples()) == labels.size(),
              "{} rows of logits, {} labels", logits.examples(), labels.size());
  check_labels(labels, logits.classes);
  const auto classes = static_cast<std::size_t>(logits.classes);
  Evaluation result;
  result.examples = logits.examples();
  result.confusion.assign(classes * classes, 0);
  std::vector<std::int64_t> members(classes, 0);
  const std::vector<std::int32_t> predicted = predictions(logits);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    result.loss += cross_entropy(logits.row(static_cast<std::int64_t>(i)), labels[i]);
    ++members[label];
    if (predicted[i] == kNoPrediction) {
      ++result.without_prediction;
    } else {
      ++result.confusion[label * classes + static_cast<std::size_t>(predicted[i])];
    }
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const std::int64_t found = result.confusion[c * classes + c];
    result.correct += found;
    result.recall.push_back(share(found, members[c]));
  }
  result.accuracy = share(result.correct, result.examples);
  result.majority_share = share(std::ranges::max(members), result.examples);
  result.accuracy_interval = wilson_interval(result.correct, result.examples);
  result.loss = result.examples == 0 ? kNaN : result.loss / static_cast<double>(result.examples);
  return result;
}

}  // namespace hone
