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

template <PrecisionRecall Evaluation::*mean, double PrecisionRecall::*figure>
double of_mean(const Evaluation& e) {
  return e.*mean.*figure;
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
      {"f1_macro", of_mean<&E::macro, &P::f1>},
      {"precision_macro", of_mean<&E::macro, &P::precision>},
      {"recall_macro", of_mean<&E::macro, &P::recall>},
      {"f1_weighted", of_mean<&E::weighted, &P::f1>},
      {"precision_weighted", of_mean<&E::weighted, &P::precision>},
      {"recall_weighted", of_mean<&E::weighted, &P::recall>},
      {"auc", [](const E& e) { return e.auc.value; }, true, true},
  };
  return rows;
}

const Metric& find_metric(std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  const std::string_view plain = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  std::vector<std::string> known;
  for (const Metric& metric : metrics()) {
    if (metric.name == plain) return metric;
    known.emplace_back(metric.name);
  }
  fail("expected {}, got '{}'{}", fmt::join(known, ", "), name, did_you_mean(plain, known));
}

bool is_better(const Metric& metric, double value, double best) {
  if (std::isnan(value) || std::isnan(best)) return !std::isnan(value);
  return metric.greater_is_better ? value > best : value < best;
}

}  // namespace hone
