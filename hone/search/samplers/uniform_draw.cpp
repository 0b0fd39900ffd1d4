#include "hone/search/samplers/uniform_draw.h"

#include <algorithm>
#include <cmath>

#include "hone/search/samplers/numeric_scale.h"

namespace hone {

double draw_uniformly(const Distribution& distribution, const UniformNumbers& numbers) {
  if (distribution.kind == DistributionKind::categorical) {
    double largest = -1;
    std::size_t winner = 0;
    for (std::size_t i = 0; i < distribution.choices.size(); ++i)
      if (const double number = numbers(); number > largest) {
        largest = number;
        winner = i;
      }
    return static_cast<double>(winner);
  }
  const NumericScale scale = scale_of(distribution);
  const double place = scale.low + scale.width() * numbers();
  if (distribution.kind == DistributionKind::integer && !distribution.logarithmic) {
    const double step = *distribution.step;  // halves round up here, to even steps elsewhere
    const double value =
        distribution.low + std::floor((place - distribution.low) / step + 0.5) * step;
    return std::clamp(value, distribution.low, distribution.high);
  }
  const double value = scale.from_scale(place, distribution);
  return distribution.step ? value
                           : std::min(value, std::nextafter(distribution.high, distribution.low));
}

std::optional<Assignment> draw_point(const SearchSpace& space, RandomSequence& random,
                                     const Assignment& kept) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Assignment values;
    for (const auto& [name, distribution, active] : space.parameters) {
      if (active && !active(values)) continue;
      const auto found = kept.find(name);
      values[name] = found != kept.end() ? found->second
                                         : distribution.external(draw_uniformly(
                                               distribution, [&] { return random.uniform(); }));
    }
    if (!space.objection || space.objection(values).empty()) return values;
  }
  return std::nullopt;
}

}  // namespace hone
