#include "hone/study/learning_check.h"

#include <algorithm>
#include <span>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/study/comparison_table.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

// Compares a tenth of the steps at each end; in short trainings five steps, since single batches differ by chance.
constexpr std::size_t kTenths = 10;
constexpr std::size_t kFewestSteps = 5;

double mean_loss(std::span<const StepRecord> steps) {
  double sum = 0;
  for (const StepRecord& step : steps) sum += step.loss;
  return sum / static_cast<double>(steps.size());
}

// Returns "always predicting 'good' scores 50.1%".
std::string constant_prediction(const TaskEvaluation& e, const std::vector<std::string>& labels) {
  const Evaluation* classes = e.classes();
  if (classes == nullptr) return constant_baseline_text(e);
  const auto most = std::ranges::max_element(classes->of_class, {}, &ClassMetrics::support);
  return fmt::format("always predicting '{}' scores {}",
                     shown_name(labels[static_cast<std::size_t>(most - classes->of_class.begin())]),
                     share_text(e.constant_baseline));
}

std::string metric_sign(const std::string& split, const TaskEvaluation& e,
                        const std::vector<std::string>& labels) {
  if (e.examples == 0 || !(e.constant_baseline < 1)) return "";  // nothing to compare
  if (e.interval.low > e.constant_baseline) return "";
  // `concerns` reports this.
  if (std::holds_alternative<RegressionEvaluation>(e.details) && e.value <= e.constant_baseline)
    return "";
  std::string text = fmt::format(
      "{}: the {} does not show that the model has learned: {}, n = {}; {}", split, e.metric.text,
      metric_sentence(e), grouped(e.examples), constant_prediction(e, labels));
  constexpr double kChance = 0.5;
  if (const Evaluation* classes = e.classes(); classes && classes->auc.interval.low > kChance)
    text += fmt::format(
        "; yet it ranks the classes better than chance (AUC {:.3f}, 95% CI {:.3f} to {:.3f}), so "
        "check precision and recall",
        classes->auc.value, classes->auc.interval.low, classes->auc.interval.high);
  return text;
}

/// Mean losses at both ends of a training.
struct LossEnds {
  std::int64_t steps = 0;  ///< at each end
  double first = 0, last = 0;
};

std::optional<LossEnds> loss_ends(const std::vector<StepRecord>& steps) {
  const std::size_t count = std::max(steps.size() / kTenths, kFewestSteps);
  if (2 * count > steps.size()) return std::nullopt;
  const std::span<const StepRecord> all(steps);
  return LossEnds{static_cast<std::int64_t>(count), mean_loss(all.first(count)),
                  mean_loss(all.last(count))};
}

// Returns what to try if the loss did not fall.
std::string advice(const std::string& guessed) {
  return guessed.empty() ? "try more steps or another learning rate" : guessed;
}

std::string loss_sign(const std::vector<StepRecord>& steps, const std::string& guessed) {
  if (loss_fell(steps).value_or(true)) return "";
  const LossEnds ends = *loss_ends(steps);
  return fmt::format(
      "the training loss did not fall: {:.4f} over the first {} of {} steps, {:.4f} over the last "
      "{}; {}",
      ends.first, grouped(ends.steps), grouped(std::ssize(steps)), ends.last, grouped(ends.steps),
      advice(guessed));
}

}  // namespace

std::optional<bool> loss_fell(const std::vector<StepRecord>& steps) {
  const std::optional<LossEnds> ends = loss_ends(steps);
  if (!ends) return std::nullopt;
  return ends->last < ends->first;
}

std::vector<std::string> signs_of_no_learning(const std::vector<StepRecord>& steps,
                                              const std::string& split,
                                              const TaskEvaluation& evaluation,
                                              const std::vector<std::string>& labels,
                                              const std::string& guessed) {
  std::vector<std::string> signs = {metric_sign(split, evaluation, labels),
                                    loss_sign(steps, guessed)};
  if (!signs[0].empty() && !guessed.empty()) signs[0] += "; " + guessed;
  std::erase(signs, "");
  return signs;
}

std::vector<std::string> signs_of_no_learning(const std::vector<Json>& results,
                                              const MetricsKey& metrics,
                                              const std::string& guessed) {
  std::vector<std::int64_t> not_above, not_fallen;
  std::string baseline, metric;
  for (const Json& result : results) {
    const std::int64_t seed = result.at("seed");
    if (result.value("loss_fell", Json()) == false) not_fallen.push_back(seed);
    if (!result.contains(metrics.key)) continue;
    const Json& measured = result[metrics.key];
    baseline = constant_baseline_text(measured);
    metric = main_metric_of(measured).text;
    if (constant_baseline_of(measured) < 1 &&
        metric_estimate(measured).low <= constant_baseline_of(measured))
      not_above.push_back(seed);
  }
  std::vector<std::string> signs;
  if (!not_above.empty())
    signs.push_back(fmt::format("{}: the {} does not show that the model has learned {}: {}{}{}",
                                split_text(metrics, results.front()), metric,
                                seeds_text(not_above, results.size()), baseline,
                                guessed.empty() ? "" : "; ", guessed));
  if (!not_fallen.empty())
    signs.push_back(fmt::format("the training loss did not fall {}; {}",
                                seeds_text(not_fallen, results.size()), advice(guessed)));
  return signs;
}

}  // namespace hone
