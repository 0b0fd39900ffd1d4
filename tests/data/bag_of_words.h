#pragma once

#include <cstdint>
#include <span>

#include "hone/data/data_set.h"

/// The simplest reader there is: a classifier that sees which words a text has, not where they
/// stand.
///
/// What it reaches is what a model must beat to have understood anything.
namespace hone {

/// Trains a softmax regression on word counts (AdaGrad, fixed order, the same result everywhere)
/// with `train` and returns its accuracy on `test`, in [0, 1]. Words are runs of letters and digits
/// in lower case and single ASCII marks; words that `train` lacks are ignored. Both sets must have
/// examples, with labels in [0, classes).
double bag_of_words_accuracy(std::span<const Example> train, std::span<const Example> test,
                             std::int32_t classes);

}  // namespace hone
