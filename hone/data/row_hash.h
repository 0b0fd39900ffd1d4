#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/data/data_set.h"

/// Texts that are known again without being kept.
namespace hone {

/// The fingerprint of an example's text, or of both texts of a pair. Letter case, control characters and the amount of
/// white space do not count, since few models see them: what one model takes for a text that it learned from is not new to
/// another. Nor does the label count. Of an image it is that of its bytes, whatever its name is.
std::uint64_t row_hash(const Example& example);

/// One for each example, in their order.
std::vector<std::uint64_t> row_hashes(std::span<const Example> examples);

/// For each row the number of its text, from 0 in the order in which they are met: rows of one hash have one number.
std::vector<std::int32_t> text_numbers(std::span<const std::uint64_t> row_hashes);

}  // namespace hone
