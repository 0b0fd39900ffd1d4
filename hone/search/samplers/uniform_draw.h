#pragma once

#include "hone/search/distribution.h"
#include "hone/search/samplers/sampler_random.h"

namespace hone {

/// An internal value, uniform on the parameter's scale, as Optuna's RandomSampler draws it: by one number, or for choices by one each,
/// of which the largest wins.
double draw_uniformly(const Distribution& distribution, const UniformNumbers& numbers);

}  // namespace hone
