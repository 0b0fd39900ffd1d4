#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/data/data_set.h"

/// A random share of rows that keeps equal texts together and takes the same share of every class.
namespace hone {

/// Rows that are drawn together, since their texts are equal.
struct RowGroup {
  std::int64_t rows = 1;
  std::int32_t stratum = 0;  ///< the class, or whatever else the same share is taken of
};

/// Draws whole groups, so that `share` of the rows of each stratum is taken, or as near to it as
/// whole groups allow. Returns for each group whether it is drawn, a function of the arguments alone.
///
/// Each group is drawn with the probability `share`, whatever its size: groups of one size are
/// drawn together, the largest first, and what rounding leaves over or takes too much is made good by
/// the smaller ones of the stratum. Two kinds of groups are exceptions. A group with more than twice
/// the rows that its stratum still wants, and with more than a tenth of all wanted rows, is never drawn. And
/// at least one group of each stratum is left over.
std::vector<char> draw_groups(std::span<const RowGroup> groups, double share, std::uint64_t seed);

/// The stratum of each example: its class; of a set of labels the rarest of them; of numbers the tenth
/// of the examples, by the first number, that it belongs to.
std::vector<std::int32_t> strata_of(std::span<const Example> examples, const LabelScheme& scheme);

/// Draws `share` of the examples by `draw_groups`: those with equal texts (hone/data/row_hash.h) are a
/// group, whose stratum is that of most of its examples. Returns for each example whether it is
/// drawn.
std::vector<char> draw_stratified(std::span<const Example> examples, const LabelScheme& scheme,
                                  double share, std::uint64_t seed);

}  // namespace hone
