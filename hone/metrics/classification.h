#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/metrics/proportion.h"

/// What a classifier's logits say about labelled examples.
///
///     Evaluation result = evaluate({logits, /*classes=*/2}, labels);
///     result.accuracy, result.accuracy_interval.low, result.loss, result.recall[1]
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

/// The prediction for a row with a NaN: no class, hence never right.
inline constexpr std::int32_t kNoPrediction = -1;

/// The class of the largest logit for each row; the first one wins ties.
std::vector<std::int32_t> predictions(const Logits& logits);

struct Evaluation {
  std::int64_t examples = 0;
  std::int64_t correct = 0;
  std::int64_t without_prediction =
      0;                ///< rows with a NaN: not zero means that the model has diverged
  double accuracy = 0;  ///< correct / examples; NaN without examples
  double majority_share =
      0;  ///< the accuracy of always giving the most frequent label; NaN without examples
  Interval accuracy_interval;  ///< Wilson, 95 %
  double loss =
      0;  ///< mean cross-entropy in nats; NaN without examples or with a NaN among the logits
  std::vector<double>
      recall;  ///< (classes): share of a class that was found; NaN for a class without examples
  std::vector<std::int64_t> confusion;  ///< (classes, classes), row: label, column: prediction
};

/// One label per row of logits. Throws `UserError` for a label that is not a class of the logits.
Evaluation evaluate(const Logits& logits, std::span<const std::int32_t> labels);

/// Throws `UserError` naming the first of `labels` that is outside [0, classes).
void check_labels(std::span<const std::int32_t> labels, std::int64_t classes);

}  // namespace hone
