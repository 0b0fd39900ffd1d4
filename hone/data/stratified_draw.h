#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/data/data_set.h"

/// Draws a random share of rows that keeps equal texts together and takes the same share of every class.
namespace hone {

/// Rows with equal texts, which are drawn together.
struct RowGroup {
  std::int64_t rows = 1;
  std::int32_t stratum = 0;  ///< the class, or another stratum
};

/// Draws whole groups so that `share` of the rows of each stratum is taken, as closely as whole groups allow. Returns
/// whether each group is drawn; depends only on the arguments.
///
/// Each group is drawn with probability `share`, regardless of its size. Groups of one size are drawn together, the
/// largest first; smaller groups of the stratum make up for rounding. There are two exceptions. A group with more than
/// twice the rows that its stratum still needs, and more than a tenth of all wanted rows, is never drawn. And at least
/// one group of each stratum is left.
std::vector<char> draw_groups(std::span<const RowGroup> groups, double share, std::uint64_t seed);

/// Returns the stratum of each example: its class; the rarest of its labels; or, for numbers, the decile of its first
/// number.
std::vector<std::int32_t> strata_of(std::span<const Example> examples, const LabelScheme& scheme);

/// Draws `share` of the examples by `draw_groups`. Examples with equal texts (hone/data/row_hash.h) are a group, whose
/// stratum is that of most of them. Returns whether each example is drawn.
std::vector<char> draw_stratified(std::span<const Example> examples, const LabelScheme& scheme,
                                  double share, std::uint64_t seed);

}  // namespace hone
