#pragma once

#include "hone/formats/format.h"

namespace hone {

/// The state of a format whose range gives what was observed the least squared error, searched among all
/// lengths that can have it: from twice the observed one down to where the values beyond the ends alone cost
/// more than the best range in all. Twice is enough: the grid of a range k or more times as long is part of one
/// between one and two times as long, which holds all values as well.
///
/// Lengths are an eighth of the outermost step apart, and each close to the best is then scaled to the least squares
/// solution for the codes that it gives, while these change. Formats that look at both ends apart have for
/// every length the zero point of the least error, which has one minimum.
///
/// Where the observation counts values in bins, errors are those of the bins' means: for up to 10 bits they are exact
/// but for bins that a border between two codes divides.
std::vector<Tensor> state_of_least_error(const Format& format, const Observation& seen);

/// The states of groups of rows as one: tensors per row get a leading axis, the others are those of the
/// first (and only) group.
std::vector<Tensor> stacked(const std::vector<FormatStateDef>& defs,
                            const std::vector<std::vector<Tensor>>& groups);

}  // namespace hone
