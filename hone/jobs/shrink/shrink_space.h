#pragma once

#include "hone/jobs/search/search_trial.h"

namespace hone {

/// What shrinking may do: "trim", "prune", "sparsify" (blocks of weights that products skip), "quantize", "allocate" (a narrower format to
/// some of the linear layers), "train".
std::vector<std::string> shrink_means();

/// What shrinking tries of a model, as searches have it (search_recipe.h), values from gentle to strong: shares of heads, neurons and layers
/// as there are, and of blocks of weights, steps of training on what the model says, formats of linears and tables. Of `only` these
/// means, of none all; linears and tables that a glob of `freeze` names keep weights, shapes and formats. For a `loadable` subject there are
/// only shapes that a config can say: no heads, and the same share of neurons of every layer. Throws `UserError` for a glob that names
/// none.
std::string shrink_space(const TrialSubject& subject, const std::vector<std::string>& only,
                         const std::vector<std::string>& freeze);
/// Whether a glob names a table of embeddings.
bool freezes_tables(const Model& model, const std::vector<std::string>& freeze);

}  // namespace hone
