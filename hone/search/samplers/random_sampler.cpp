#include <algorithm>
#include <cmath>

#include "hone/search/sampler.h"
#include "hone/search/samplers/numeric_scale.h"
#include "hone/search/samplers/uniform_draw.h"

namespace hone {
namespace {

class RandomSampler : public Sampler {
 public:
  explicit RandomSampler(const RandomSamplerOptions& options)
      : random_(options.seed, options.compatible) {}

  double draw(const StudyView&, const Trial& trial, const std::string& name,
              const Distribution& distribution) override {
    return draw_uniformly(distribution, random_.numbers_for(trial.number, "random", name));
  }

 private:
  SamplerRandom random_;
};

}  // namespace

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
    const double step = *distribution.step;  // halves go up here, to even steps elsewhere
    const double value =
        distribution.low + std::floor((place - distribution.low) / step + 0.5) * step;
    return std::clamp(value, distribution.low, distribution.high);
  }
  const double value = scale.from_scale(place, distribution);
  return distribution.step ? value
                           : std::min(value, std::nextafter(distribution.high, distribution.low));
}

std::unique_ptr<Sampler> random_sampler(const RandomSamplerOptions& options) {
  return std::make_unique<RandomSampler>(options);
}

}  // namespace hone
