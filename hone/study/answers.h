#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/data/data_set.h"
#include "hone/metrics/task.h"

/// What a model says of one text, and what is right, as people read it.
namespace hone {

/// The class of the largest output; the labels that are given, by comma, or "none of them"; the number, or "a 0.25, b 1.5" of
/// several; "none (not a number)" where an output is none. `scheme.names` are those of the outputs.
std::string answer_text(const LabelScheme& scheme, std::span<const float> outputs);

/// The right answer to an example in the same words.
std::string truth_text(const LabelScheme& scheme, const Example& example);

}  // namespace hone
