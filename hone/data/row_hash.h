#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/data/data_set.h"

/// Fingerprints that identify texts without storing them.
namespace hone {

/// Returns the fingerprint of an example's text, or of both texts of a pair. It ignores letter case, control
/// characters, the amount of white space, and the label: few models distinguish the former, so a text that one model
/// learned must not count as new for another. For images, the fingerprint of the bytes, independent of the name.
std::uint64_t row_hash(const Example& example);

/// Returns the fingerprint of each example, in order.
std::vector<std::uint64_t> row_hashes(std::span<const Example> examples);

/// Returns the number of each row's text, from 0 in order of first occurrence; rows with equal hashes share a number.
std::vector<std::int32_t> text_numbers(std::span<const std::uint64_t> row_hashes);

}  // namespace hone
