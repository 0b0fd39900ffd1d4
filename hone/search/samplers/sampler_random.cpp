#include "hone/search/samplers/sampler_random.h"

#include "hone/base/error.h"
#include "hone/base/random.h"

namespace hone {

SamplerRandom::SamplerRandom(std::uint64_t seed, bool compatible) : seed_(seed) {
  if (!compatible) return;
  user_check(seed <= 0xffffffffu, "seed {}: numpy's random numbers take seeds from 0 to 4294967295",
             seed);
  numpy_.emplace(static_cast<std::uint32_t>(seed));
}

UniformNumbers SamplerRandom::numbers_for(std::int64_t trial, std::string_view purpose,
                                          std::string_view name) {
  if (numpy_) return [this] { return numpy_->uniform(); };
  return [sequence = RandomSequence(
              seed_, stream_of(fmt::format("search.{}.{}.{}", purpose, trial, name)))]() mutable {
    return sequence.uniform();
  };
}

}  // namespace hone
