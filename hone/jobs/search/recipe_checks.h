#pragma once

#include <string>
#include <vector>

#include "hone/jobs/search/trial_subject.h"

/// What is wrong with a recipe for a model, before any trial runs.
namespace hone {

/// Checks what a recipe asks of a model before any trial runs: metrics that there are, training where weights are fresh. Throws `UserError`.
void check_recipe(const SearchRecipe& recipe, const TrialSubject& subject);

/// Parameters of the space that change nothing, each alone, in any of some drawn points: neither the graph, nor how it is trained,
/// pruned or rounded.
std::vector<std::string> dead_parameters(const TrialSpace& space, const TrialSubject& subject,
                                         Context& context);

}  // namespace hone
