#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Returns the state of a format whose range has the least squared error for the observation. The search covers all
/// lengths that can have it: from twice the observed length down to where the clipped values alone cost more than the
/// best range in total. Twice is enough: the grid of a longer range is part of a grid between one and two times as
/// long, which also contains all values.
///
/// Lengths are an eighth of the outermost step apart. Each one close to the best is then rescaled to the least-squares
/// solution for its codes, while these change. For formats with separate ends, the search finds the best zero point of
/// every length; its error has a single minimum.
///
/// If the observation counts values in bins, errors are those of the bins' means. Up to 10 bits they are exact, except
/// for bins split by the border between two codes.
std::vector<Tensor> state_of_least_error(const Format& format, const Observation& seen);

/// Combines the states of groups of rows: per-row tensors get a leading axis, the others are those of the first (and
/// only) group.
std::vector<Tensor> stacked(const std::vector<FormatStateDef>& defs,
                            const std::vector<std::vector<Tensor>>& groups);

}  // namespace hone
