#pragma once

#include <string>
#include <vector>

#include "hone/jobs/search/trial_subject.h"

/// Checks of a recipe for a model, before any trial runs.
namespace hone {

/// Throws `UserError` for metrics that the model does not have, for fresh weights without training, and the like.
void check_recipe(const SearchRecipe& recipe, const TrialSubject& subject);

/// Returns the parameters of the space that have no effect at a sample of random points: changing one alone changes
/// neither the graph nor its training, pruning or rounding.
std::vector<std::string> dead_parameters(const TrialSpace& space, const TrialSubject& subject,
                                         Context& context);

}  // namespace hone
