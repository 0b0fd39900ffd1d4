#include "hone/app/learning_check.h"

#include <algorithm>
#include <span>

#include "hone/app/comparison_table.h"
#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::size_t kTenths = 10;

double mean_loss(std::span<const StepRecord> steps) {
  double sum = 0;
  for (const StepRecord& step : steps) sum += step.loss;
  return sum / static_cast<double>(steps.size());
}

std::string accuracy_sign(const std::string& part, const Evaluation& e,
                          const std::vector<std::string>& labels) {
  const auto most = std::ranges::max_element(e.of_class, {}, &ClassFigures::support);
  if (e.examples == 0 || most->support == e.examples) return "";  // nothing to tell apart
  const double baseline = static_cast<double>(most->support) / static_cast<double>(e.examples);
  if (e.accuracy_interval.low > baseline) return "";
  std::string text = fmt::format(
      "{}: the accuracy does not show that it learnt: n = {}, {}, and saying '{}' to every text "
      "makes {}",
      part, grouped(e.examples), accuracy_sentence(e),
      shown_name(labels[static_cast<std::size_t>(most - e.of_class.begin())]),
      share_text(baseline));
  constexpr double kChance = 0.5;
  if (e.auc.interval.low > kChance)
    text += fmt::format(
        "; yet it ranks the classes better than chance does (AUC {:.3f}, 95 %: {:.3f} to {:.3f}): "
        "look at precision and recall",
        e.auc.value, e.auc.interval.low, e.auc.interval.high);
  return text;
}

std::string loss_sign(const std::vector<StepRecord>& steps) {
  const std::size_t tenth = steps.size() / kTenths;
  if (tenth == 0) return "";
  const std::span<const StepRecord> all(steps);
  const double first = mean_loss(all.first(tenth)), last = mean_loss(all.last(tenth));
  if (last < first) return "";
  return fmt::format(
      "the training loss did not fall: {:.4f} over the first {} of {} steps, {:.4f} over the last "
      "{}; more steps, or another learning rate?",
      first, grouped(static_cast<long long>(tenth)), grouped(static_cast<long long>(steps.size())),
      last, grouped(static_cast<long long>(tenth)));
}

}  // namespace

std::vector<std::string> signs_of_no_learning(const std::vector<StepRecord>& steps,
                                              const std::string& part, const Evaluation& evaluation,
                                              const std::vector<std::string>& labels) {
  std::vector<std::string> signs = {accuracy_sign(part, evaluation, labels), loss_sign(steps)};
  std::erase(signs, "");
  return signs;
}

}  // namespace hone
