#pragma once

#include <span>
#include <vector>

namespace hone {

/// Returns the p-values of K tests after Holm's correction (1979, Scandinavian Journal of Statistics 6:65): comparing
/// each with α keeps the chance of any false rejection among them at α, however they depend on each other. The i-th
/// smallest becomes the largest of (K - j + 1) p_j over j = 1 … i, at most 1. Keeps the given order.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace hone
