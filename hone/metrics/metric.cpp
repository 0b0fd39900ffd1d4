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
  return std::get<E>(e.details);
}

// Returns a member of the task's own metrics.
template <typename E, double E::*member>
double own(const TaskEvaluation& e) {
  return of<E>(e).*member;
}

// Returns a metric of class 1, like scikit-learn's average="binary" with zero_division=nan: 0/0 is not defined, as in
// the metrics of the class.
template <double P::*member>
double of_class_1(const TaskEvaluation& e) {
  const std::vector<ClassMetrics>& classes = of<Classes>(e).of_class;
  return classes.size() == 2 ? classes[1].scores.*member : std::numeric_limits<double>::quiet_NaN();
}

template <typename E, P E::*mean, double P::*member>
double of_mean(const TaskEvaluation& e) {
  return of<E>(e).*mean.*member;
}

template <double ErrorMetrics::*member>
double of_errors(const TaskEvaluation& e) {
  return of<Numbers>(e).errors.*member;
}

double area(const TaskEvaluation& e) { return of<Classes>(e).auc.value; }

std::vector<double> auc_parts_of_classes(const Logits& logits, const Truth& truth) {
  const ClassScores scores = scores_of_class_1(logits, truth.classes);
  return auc_contributions(scores.values, scores.positive, truth.texts);
}

std::vector<double> column(std::span<const float> values, std::int64_t width, std::int64_t at) {
  std::vector<double> result;
  for (auto i = static_cast<std::size_t>(at); i < values.size();
       i += static_cast<std::size_t>(width))
    result.push_back(values[i]);
  return result;
}

// Returns the mean over the columns of outputs and targets. Columns that are not defined are left out, or make the mean
// undefined.
template <typename Parts>
std::vector<double> mean_over_columns(const Logits& outputs, const Truth& truth, bool leave_out,
                                      Parts&& contributions_of) {
  std::vector<double> sum(static_cast<std::size_t>(outputs.examples()));
  double count = 0;
  for (std::int64_t c = 0; c < outputs.classes; ++c) {
    const std::vector<double> contributions = contributions_of(
        column(outputs.values, outputs.classes, c), column(truth.targets, outputs.classes, c));
    if (leave_out && !contributions.empty() && std::isnan(contributions[0])) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += contributions[i];
    ++count;
  }
  for (double& value : sum) value /= count;  // 0/0 if none is defined
  return sum;
}

template <std::vector<double> (*contributions)(std::span<const double>, std::span<const double>)>
std::vector<double> mean_parts(const Logits& outputs, const Truth& truth) {
  return mean_over_columns(outputs, truth, /*leave_out=*/false, contributions);
}

std::vector<double> auc_parts_of_labels(const Logits& logits, const Truth& truth) {
  return mean_over_columns(
      logits, truth, /*leave_out=*/true,
      [&](const std::vector<double>& scores, const std::vector<double>& targets) {
        std::vector<double> contributions = auc_contributions(
            scores, std::vector<char>(targets.begin(), targets.end()), truth.texts);
        // The mean over labels does not depend on the only example of one label.
        const auto is_nan = [](double part) { return std::isnan(part); };
        if (!std::ranges::all_of(contributions, is_nan))
          std::ranges::replace_if(contributions, is_nan, 0);
        return contributions;
      });
}

const std::vector<Metric>& metrics_of_classes() {
  static const std::vector<Metric> rows = {
      {"accuracy", "accuracy", own<Classes, &Classes::accuracy>},
      {"loss", "loss", own<Classes, &Classes::loss>, /*greater_is_better=*/false},
      {"f1", "F1", of_class_1<&P::f1>, true, /*of_two_classes=*/true},
      {"precision", "precision", of_class_1<&P::precision>, true, true},
      {"recall", "recall", of_class_1<&P::recall>, true, true},
      {"f1_macro", "macro F1", of_mean<Classes, &Classes::macro, &P::f1>},
      {"precision_macro", "macro precision", of_mean<Classes, &Classes::macro, &P::precision>},
      {"recall_macro", "macro recall", of_mean<Classes, &Classes::macro, &P::recall>},
      {"f1_weighted", "weighted F1", of_mean<Classes, &Classes::weighted, &P::f1>},
      {"precision_weighted", "weighted precision",
       of_mean<Classes, &Classes::weighted, &P::precision>},
      {"recall_weighted", "weighted recall", of_mean<Classes, &Classes::weighted, &P::recall>},
      {"auc", "area under the ROC curve", area, true, true, auc_parts_of_classes},
  };
  return rows;
}

const std::vector<Metric>& metrics_of_numbers() {
  static const std::vector<Metric> rows = {
      {"r2", "R²", of_errors<&ErrorMetrics::r2>},
      {"loss", "loss", of_errors<&ErrorMetrics::mse>, /*greater_is_better=*/false},
      {"mse", "mean squared error", of_errors<&ErrorMetrics::mse>, false},
      {"rmse", "root mean squared error", of_errors<&ErrorMetrics::rmse>, false},
      {"mae", "mean absolute error", of_errors<&ErrorMetrics::mae>, false},
      {"pearson", "Pearson's correlation", own<Numbers, &Numbers::pearson>, true, false,
       mean_parts<pearson_contributions>},
      {"spearman", "Spearman's correlation", own<Numbers, &Numbers::spearman>, true, false,
       mean_parts<spearman_contributions>},
  };
  return rows;
}

const std::vector<Metric>& metrics_of_labels() {
  static const std::vector<Metric> rows = {
      {"f1_micro", "micro F1", of_mean<Labels, &Labels::micro, &P::f1>},
      {"loss", "loss", own<Labels, &Labels::loss>, /*greater_is_better=*/false},
      {"subset_accuracy", "subset accuracy", own<Labels, &Labels::subset_accuracy>},
      {"hamming_accuracy", "Hamming accuracy", own<Labels, &Labels::hamming_accuracy>},
      {"precision_micro", "micro precision", of_mean<Labels, &Labels::micro, &P::precision>},
      {"recall_micro", "micro recall", of_mean<Labels, &Labels::micro, &P::recall>},
      {"f1_macro", "macro F1", of_mean<Labels, &Labels::macro, &P::f1>},
      {"precision_macro", "macro precision", of_mean<Labels, &Labels::macro, &P::precision>},
      {"recall_macro", "macro recall", of_mean<Labels, &Labels::macro, &P::recall>},
      {"f1_weighted", "weighted F1", of_mean<Labels, &Labels::weighted, &P::f1>},
      {"precision_weighted", "weighted precision",
       of_mean<Labels, &Labels::weighted, &P::precision>},
      {"recall_weighted", "weighted recall", of_mean<Labels, &Labels::weighted, &P::recall>},
      {"f1_samples", "F1 averaged over examples", of_mean<Labels, &Labels::samples, &P::f1>},
      {"precision_samples", "precision averaged over examples",
       of_mean<Labels, &Labels::samples, &P::precision>},
      {"recall_samples", "recall averaged over examples",
       of_mean<Labels, &Labels::samples, &P::recall>},
      {"auc_macro", "macro area under the ROC curve", own<Labels, &Labels::macro_auc>, true, false,
       auc_parts_of_labels},
  };
  return rows;
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

const Metric* metric_called(Task task, std::string_view name) {
  const std::vector<Metric>& rows = metrics(task);
  const auto found = std::ranges::find(rows, name, &Metric::name);
  return found == rows.end() ? nullptr : &*found;
}

const Metric& find_metric(Task task, std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  const std::string_view plain = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  if (const Metric* metric = metric_called(task, plain)) return *metric;
  std::vector<std::string> known;
  for (const Metric& metric : metrics(task)) known.emplace_back(metric.name);
  const auto has_it = [&](Task other) { return metric_called(other, plain) != nullptr; };
  const auto other = std::ranges::find_if(kTasks, has_it);
  const std::string hint = other == std::end(kTasks)
                               ? did_you_mean(plain, known)
                               : fmt::format(", which is a metric of {}; the task is {}",
                                             to_string(*other), to_string(task));
  fail("expected {}, got '{}'{}", fmt::join(known, ", "), name, hint);
}

bool is_better(const Metric& metric, double value, double best) {
  if (std::isnan(value) || std::isnan(best)) return !std::isnan(value);
  return metric.greater_is_better ? value > best : value < best;
}

}  // namespace hone
