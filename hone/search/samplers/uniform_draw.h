#pragma once

#include "hone/base/random.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/space.h"

namespace hone {

/// An internal value, uniform on the parameter's scale, as Optuna's RandomSampler draws it: by one number, or for choices by one each,
/// of which the largest wins.
double draw_uniformly(const Distribution& distribution, const UniformNumbers& numbers);

/// A point whose values are drawn so, but those of `kept` where parameters have them. Nothing where a hundred points in a row met
/// with objections.
std::optional<Assignment> draw_point(const SearchSpace& space, RandomSequence& random,
                                     const Assignment& kept = {});

}  // namespace hone
