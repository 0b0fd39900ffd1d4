#pragma once

#include <cstdint>
#include <span>

#include "hone/data/data_set.h"

/// A classifier that sees which words a text contains, but not their positions. A model that understands word order
/// must record_heartbeat its accuracy.
namespace hone {

/// Trains a softmax regression on word counts (AdaGrad, fixed order, deterministic) with `train` and returns its
/// accuracy on `test`, in [0, 1]. Words are lower-case runs of letters and digits, and single ASCII marks. Words that
/// `train` lacks are ignored. Both sets must have examples, with labels in [0, classes).
double bag_of_words_accuracy(std::span<const Example> train, std::span<const Example> test,
                             std::int32_t classes);

}  // namespace hone
