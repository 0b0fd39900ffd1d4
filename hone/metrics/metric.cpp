#include "hone/metrics/metric.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// A figure of class 1, as scikit-learn's average="binary" with zero_division=nan: what is 0/0 is not defined, here as in
// the figures of the class.
template <double PrecisionRecall::*figure>
double of_class_1(const Evaluation& e) {
  return e.of_class.size() == 2 ? e.of_class[1].figures.*figure
                                : std::numeric_limits<double>::quiet_NaN();
}

template <typename E, PrecisionRecall E::*mean, double PrecisionRecall::*figure>
double of_mean(const E& e) {
  return e.*mean.*figure;
}

template <double ErrorFigures::*figure>
double of_errors(const RegressionEvaluation& e) {
  return e.errors.*figure;
}

}  // namespace

const std::vector<Metric>& metrics() {
  using P = PrecisionRecall;
  using E = Evaluation;
  static const std::vector<Metric> rows = {
      {"accuracy", [](const E& e) { return e.accuracy; }},
      {"loss", [](const E& e) { return e.loss; }, /*greater_is_better=*/false},
      {"f1", of_class_1<&P::f1>, true, /*of_two_classes=*/true},
      {"precision", of_class_1<&P::precision>, true, true},
      {"recall", of_class_1<&P::recall>, true, true},
      {"f1_macro", of_mean<E, &E::macro, &P::f1>},
      {"precision_macro", of_mean<E, &E::macro, &P::precision>},
      {"recall_macro", of_mean<E, &E::macro, &P::recall>},
      {"f1_weighted", of_mean<E, &E::weighted, &P::f1>},
      {"precision_weighted", of_mean<E, &E::weighted, &P::precision>},
      {"recall_weighted", of_mean<E, &E::weighted, &P::recall>},
      {"auc", [](const E& e) { return e.auc.value; }, true, true},
  };
  return rows;
}

const std::vector<RegressionMetric>& regression_metrics() {
  using E = RegressionEvaluation;
  static const std::vector<RegressionMetric> rows = {
      {"r2", of_errors<&ErrorFigures::r2>},
      {"loss", of_errors<&ErrorFigures::mse>, /*greater_is_better=*/false},
      {"mse", of_errors<&ErrorFigures::mse>, false},
      {"rmse", of_errors<&ErrorFigures::rmse>, false},
      {"mae", of_errors<&ErrorFigures::mae>, false},
      {"pearson", [](const E& e) { return e.pearson; }},
      {"spearman", [](const E& e) { return e.spearman; }},
  };
  return rows;
}

const std::vector<MultiLabelMetric>& multi_label_metrics() {
  using P = PrecisionRecall;
  using E = MultiLabelEvaluation;
  static const std::vector<MultiLabelMetric> rows = {
      {"f1_micro", of_mean<E, &E::micro, &P::f1>},
      {"loss", [](const E& e) { return e.loss; }, /*greater_is_better=*/false},
      {"subset_accuracy", [](const E& e) { return e.subset_accuracy; }},
      {"hamming_accuracy", [](const E& e) { return e.hamming_accuracy; }},
      {"precision_micro", of_mean<E, &E::micro, &P::precision>},
      {"recall_micro", of_mean<E, &E::micro, &P::recall>},
      {"f1_macro", of_mean<E, &E::macro, &P::f1>},
      {"precision_macro", of_mean<E, &E::macro, &P::precision>},
      {"recall_macro", of_mean<E, &E::macro, &P::recall>},
      {"f1_weighted", of_mean<E, &E::weighted, &P::f1>},
      {"precision_weighted", of_mean<E, &E::weighted, &P::precision>},
      {"recall_weighted", of_mean<E, &E::weighted, &P::recall>},
      {"f1_samples", of_mean<E, &E::samples, &P::f1>},
      {"precision_samples", of_mean<E, &E::samples, &P::precision>},
      {"recall_samples", of_mean<E, &E::samples, &P::recall>},
      {"auc_macro", [](const E& e) { return e.macro_auc; }},
  };
  return rows;
}

const Metric& find_metric(std::string_view name) { return find_metric(metrics(), name); }

template <typename E>
const MetricOf<E>& find_metric(const std::vector<MetricOf<E>>& table, std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  const std::string_view plain = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  std::vector<std::string> known;
  for (const MetricOf<E>& metric : table) {
    if (metric.name == plain) return metric;
    known.emplace_back(metric.name);
  }
  fail("expected {}, got '{}'{}", fmt::join(known, ", "), name, did_you_mean(plain, known));
}

template const Metric& find_metric(const std::vector<Metric>&, std::string_view);
template const RegressionMetric& find_metric(const std::vector<RegressionMetric>&,
                                             std::string_view);
template const MultiLabelMetric& find_metric(const std::vector<MultiLabelMetric>&,
                                             std::string_view);

}  // namespace hone
