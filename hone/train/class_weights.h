#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hone {

/// Returns the weight of each class in the training loss, from the argument of `--class_weights`: empty for none;
/// "balanced" for scikit-learn's weights n / (K n_c), with n training examples, n_c of them of class c, and K classes
/// that have examples (0 for a class without any); or a positive number per class, separated by commas, in the order
/// of `classes`. Throws `UserError` for anything else.
std::vector<float> class_weights(const std::string& choice, std::span<const std::int32_t> labels,
                                 const std::vector<std::string>& classes);

}  // namespace hone
