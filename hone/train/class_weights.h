#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hone {

/// The weight of each class in the training loss, from what `--class_weights` takes: empty for none; "balanced" for
/// those of scikit-learn, n / (K n_c) with n training texts, n_c of them of class c, and K classes that have any (0 for
/// one that has none: it never counts); or a number above 0 for each class, by commas, in the order of `classes`.
/// Throws `UserError` for anything else.
std::vector<float> class_weights(const std::string& choice, std::span<const std::int32_t> labels,
                                 const std::vector<std::string>& classes);

}  // namespace hone
