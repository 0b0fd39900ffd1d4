#include "hone/search/sampler.h"
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

std::unique_ptr<Sampler> random_sampler(const RandomSamplerOptions& options) {
  return std::make_unique<RandomSampler>(options);
}

}  // namespace hone
