#pragma once

#include "hone/jobs/search/search_trial.h"

namespace hone {

/// Returns the methods of shrink runs: "trim", "prune", "sparsify" (blocks of weights that products skip), "quantize",
/// "allocate" (a narrower format for some of the linear layers), "train".
std::vector<std::string> shrink_methods();

/// Returns the search space for a model as a recipe (search_recipe.h), values from gentle to strong: shares of heads,
/// neurons, layers and blocks of weights, training steps with the model itself as teacher, formats of linears and
/// embedding tables. Uses the methods `only`, or all if empty. Linears and tables that a glob of `freeze` matches keep
/// weights, shapes and formats. A `loadable` subject has only shapes that config.json can express: no heads, and the
/// same share of neurons in every layer. Throws `UserError` for a glob that matches nothing.
std::string shrink_space(const TrialSubject& subject, const std::vector<std::string>& only,
                         const std::vector<std::string>& freeze);
/// Returns whether a glob matches an embedding table.
bool freezes_tables(const Model& model, const std::vector<std::string>& freeze);

}  // namespace hone
