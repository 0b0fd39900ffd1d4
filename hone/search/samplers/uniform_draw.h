#pragma once

#include "hone/base/random.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/space.h"

namespace hone {

/// Returns an internal value, uniform on the parameter's scale, as Optuna's RandomSampler draws it: with one number,
/// or for choices with one each, of which the largest wins.
double draw_uniformly(const Distribution& distribution, const UniformNumbers& numbers);

/// Returns a point with such values, except for those in `kept`. Nothing if a hundred consecutive points had
/// objections.
std::optional<Assignment> draw_point(const SearchSpace& space, RandomSequence& random,
                                     const Assignment& kept = {});

}  // namespace hone
