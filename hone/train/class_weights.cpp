#include "hone/train/class_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

std::vector<float> balanced(std::span<const std::int32_t> labels, std::size_t classes) {
  std::vector<double> counts(classes, 0);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  const auto present =
      static_cast<double>(std::ranges::count_if(counts, [](double count) { return count > 0; }));
  const auto all = static_cast<double>(labels.size());
  std::vector<float> weights;
  for (const double count : counts)
    weights.push_back(count == 0 ? 0 : static_cast<float>(all / (present * count)));
  return weights;
}

float parsed(const std::string& text, const std::string& choice,
             const std::vector<std::string>& classes) {
  const std::string_view number = trim(text);
  float weight = 0;
  const char* const end = number.data() + number.size();
  const auto [at, error] = std::from_chars(number.data(), end, weight);
  user_check(error == std::errc() && at == end && std::isfinite(weight) && weight > 0,
             "`class_weights`: expected 'balanced' or a number above 0 for each of {}, got '{}'",
             fmt::join(classes, ", "), choice);
  return weight;
}

}  // namespace

std::vector<float> class_weights(const std::string& choice, std::span<const std::int32_t> labels,
                                 const std::vector<std::string>& classes) {
  if (choice.empty()) return {};
  if (choice == "balanced") return balanced(labels, classes.size());
  std::vector<float> weights;
  for (const std::string& text : split(choice, ','))
    weights.push_back(parsed(text, choice, classes));
  user_check(weights.size() == classes.size(),
             "`class_weights`: expected {} numbers, one for each of {}, got {}", classes.size(),
             fmt::join(classes, ", "), weights.size());
  return weights;
}

}  // namespace hone
