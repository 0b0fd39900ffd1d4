#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/metrics/classification.h"

namespace hone {

/// A figure of an evaluation by its name: "accuracy", "f1_macro". A new one is a row of `metrics()`.
struct Metric {
  std::string_view name;
  double (*value)(const Evaluation&);  ///< NaN where it is not defined
  bool greater_is_better = true;
  bool of_two_classes =
      false;  ///< not defined for more; precision, recall and f1 are then of class 1
};

/// All of them, the usual ones first.
const std::vector<Metric>& metrics();

/// The metric called so, with or without Hugging Face's "eval_" in front. Throws `UserError` that lists them for an
/// unknown one.
const Metric& find_metric(std::string_view name);

/// Whether `value` is better than `best`. What is no number is never better, and any number is better than that.
bool is_better(const Metric& metric, double value, double best);

}  // namespace hone
