#include "hone/metrics/metric.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

using Classes = Evaluation;
using Numbers = RegressionEvaluation;
using Labels = MultiLabelEvaluation;
using P = PrecisionRecall;

template <typename E>
const E& of(const TaskEvaluation& e) {
  return std::get<E>(e.figures);
}

// A member of the task's own figures.
template <typename E, double E::*figure>
double own(const TaskEvaluation& e) {
  return of<E>(e).*figure;
}

// A figure of class 1, as scikit-learn's average="binary" with zero_division=nan: what is 0/0 is not defined, here as in
// the figures of the class.
template <double P::*figure>
double of_class_1(const TaskEvaluation& e) {
  const std::vector<ClassFigures>& classes = of<Classes>(e).of_class;
  return classes.size() == 2 ? classes[1].figures.*figure
                             : std::numeric_limits<double>::quiet_NaN();
}

template <typename E, P E::*mean, double P::*figure>
double of_mean(const TaskEvaluation& e) {
  return of<E>(e).*mean.*figure;
}

template <double ErrorFigures::*figure>
double of_errors(const TaskEvaluation& e) {
  return of<Numbers>(e).errors.*figure;
}

double area(const TaskEvaluation& e) { return of<Classes>(e).auc.value; }

const std::vector<Metric>& metrics_of_classes() {
  static const std::vector<Metric> rows = {
      {"accuracy", own<Classes, &Classes::accuracy>},
      {"loss", own<Classes, &Classes::loss>, /*greater_is_better=*/false},
      {"f1", of_class_1<&P::f1>, true, /*of_two_classes=*/true},
      {"precision", of_class_1<&P::precision>, true, true},
      {"recall", of_class_1<&P::recall>, true, true},
      {"f1_macro", of_mean<Classes, &Classes::macro, &P::f1>},
      {"precision_macro", of_mean<Classes, &Classes::macro, &P::precision>},
      {"recall_macro", of_mean<Classes, &Classes::macro, &P::recall>},
      {"f1_weighted", of_mean<Classes, &Classes::weighted, &P::f1>},
      {"precision_weighted", of_mean<Classes, &Classes::weighted, &P::precision>},
      {"recall_weighted", of_mean<Classes, &Classes::weighted, &P::recall>},
      {"auc", area, true, true},
  };
  return rows;
}

const std::vector<Metric>& metrics_of_numbers() {
  static const std::vector<Metric> rows = {
      {"r2", of_errors<&ErrorFigures::r2>},
      {"loss", of_errors<&ErrorFigures::mse>, /*greater_is_better=*/false},
      {"mse", of_errors<&ErrorFigures::mse>, false},
      {"rmse", of_errors<&ErrorFigures::rmse>, false},
      {"mae", of_errors<&ErrorFigures::mae>, false},
      {"pearson", own<Numbers, &Numbers::pearson>},
      {"spearman", own<Numbers, &Numbers::spearman>},
  };
  return rows;
}

const std::vector<Metric>& metrics_of_labels() {
  static const std::vector<Metric> rows = {
      {"f1_micro", of_mean<Labels, &Labels::micro, &P::f1>},
      {"loss", own<Labels, &Labels::loss>, /*greater_is_better=*/false},
      {"subset_accuracy", own<Labels, &Labels::subset_accuracy>},
      {"hamming_accuracy", own<Labels, &Labels::hamming_accuracy>},
      {"precision_micro", of_mean<Labels, &Labels::micro, &P::precision>},
      {"recall_micro", of_mean<Labels, &Labels::micro, &P::recall>},
      {"f1_macro", of_mean<Labels, &Labels::macro, &P::f1>},
      {"precision_macro", of_mean<Labels, &Labels::macro, &P::precision>},
      {"recall_macro", of_mean<Labels, &Labels::macro, &P::recall>},
      {"f1_weighted", of_mean<Labels, &Labels::weighted, &P::f1>},
      {"precision_weighted", of_mean<Labels, &Labels::weighted, &P::precision>},
      {"recall_weighted", of_mean<Labels, &Labels::weighted, &P::recall>},
      {"f1_samples", of_mean<Labels, &Labels::samples, &P::f1>},
      {"precision_samples", of_mean<Labels, &Labels::samples, &P::precision>},
      {"recall_samples", of_mean<Labels, &Labels::samples, &P::recall>},
      {"auc_macro", own<Labels, &Labels::macro_auc>},
  };
  return rows;
}

const Metric* find(Task task, std::string_view name) {
  const std::vector<Metric>& rows = metrics(task);
  const auto found = std::ranges::find(rows, name, &Metric::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Metric>& metrics(Task task) {
  if (task == Task::regression) return metrics_of_numbers();
  return task == Task::multi_label ? metrics_of_labels() : metrics_of_classes();
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Task task : kTasks)
    for (const Metric& metric : metrics(task))
      if (std::ranges::find(names, metric.name) == names.end()) names.emplace_back(metric.name);
  return names;
}

const Metric& find_metric(Task task, std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  const std::string_view plain = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  if (const Metric* metric = find(task, plain)) return *metric;
  std::vector<std::string> known;
  for (const Metric& metric : metrics(task)) known.emplace_back(metric.name);
  const auto has_it = [&](Task other) { return find(other, plain) != nullptr; };
  const auto other = std::ranges::find_if(kTasks, has_it);
  const std::string hint = other == std::end(kTasks)
                               ? did_you_mean(plain, known)
                               : fmt::format(", which is a figure of {}; the task is {}",
                                             to_string(*other), to_string(task));
  fail("expected {}, got '{}'{}", fmt::join(known, ", "), name, hint);
}

bool is_better(const Metric& metric, double value, double best) {
  if (std::isnan(value) || std::isnan(best)) return !std::isnan(value);
  return metric.greater_is_better ? value > best : value < best;
}

}  // namespace hone
