#include "hone/study/prediction_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/metrics/classification.h"
#include "hone/metrics/multi_label.h"

namespace hone {
namespace {

std::string labels_text(const std::vector<std::string>& names, const std::vector<bool>& given) {
  std::vector<std::string> shown;
  for (std::size_t l = 0; l < names.size(); ++l)
    if (given[l]) shown.push_back(names[l]);
  return shown.empty() ? "none of them" : fmt::format("{}", fmt::join(shown, ", "));
}

std::string numbers_text(const std::vector<std::string>& names, std::span<const float> numbers) {
  if (numbers.size() == 1) return fmt::format("{:.4g}", numbers[0]);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{} {:.4g}", i == 0 ? "" : ", ", names[i], numbers[i]);
  return text;
}

}  // namespace

std::string prediction_text(const LabelScheme& scheme, std::span<const float> outputs) {
  const std::int32_t best = prediction(outputs);
  if (best == kNoPrediction || scheme.task == Task::single_label)
    return prediction_name(best, scheme.names);
  if (scheme.task == Task::regression) return numbers_text(scheme.names, outputs);
  std::vector<bool> given;
  for (const float logit : outputs) given.push_back(predicts_label(logit));
  return labels_text(scheme.names, given);
}

std::string truth_text(const LabelScheme& scheme, const Example& example) {
  if (scheme.task == Task::single_label)
    return scheme.names[static_cast<std::size_t>(example.label)];
  if (scheme.task == Task::regression) return numbers_text(scheme.names, example.targets);
  std::vector<bool> given;
  for (const float target : example.targets) given.push_back(target != 0);
  return labels_text(scheme.names, given);
}

}  // namespace hone
