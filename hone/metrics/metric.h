#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/multi_label.h"
#include "hone/metrics/regression.h"

namespace hone {

/// A figure of a task's evaluation by its name: "accuracy", "f1_macro". A new one is a row of the task's table.
template <typename E>
struct MetricOf {
  std::string_view name;
  double (*value)(const E&);  ///< NaN where it is not defined
  bool greater_is_better = true;
  bool of_two_classes =
      false;  ///< not defined for more; precision, recall and f1 are then of class 1
};

using Metric = MetricOf<Evaluation>;
using RegressionMetric = MetricOf<RegressionEvaluation>;
using MultiLabelMetric = MetricOf<MultiLabelEvaluation>;

/// All of them, the usual ones first: of one class of several, of numbers, of any number of labels.
const std::vector<Metric>& metrics();
const std::vector<RegressionMetric>& regression_metrics();
const std::vector<MultiLabelMetric>& multi_label_metrics();

/// The metric of a task's table called so, with or without Hugging Face's "eval_" in front. Throws `UserError` that lists them for an
/// unknown one.
template <typename E>
const MetricOf<E>& find_metric(const std::vector<MetricOf<E>>& table, std::string_view name);
/// Of `metrics()`.
const Metric& find_metric(std::string_view name);

/// Whether `value` is better than `best`. What is no number is never better, and any number is better than that.
template <typename E>
bool is_better(const MetricOf<E>& metric, double value, double best) {
  if (std::isnan(value) || std::isnan(best)) return !std::isnan(value);
  return metric.greater_is_better ? value > best : value < best;
}

}  // namespace hone
