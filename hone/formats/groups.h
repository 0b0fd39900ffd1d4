#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hone/formats/format.h"
#include "hone/kernels/magnitude.h"

/// Formats whose values share a scale per group: the rows of a tensor, or all of it.
namespace hone {

/// The whole tensor as one group.
Rows whole_tensor(const Sizes& sizes);
/// One group for each position on the first axis; a single group for rank 0 and 1.
Rows slices_of(const Sizes& sizes);

/// Returns the values of group `g`.
template <typename T>
std::span<T> group_of(std::span<T> values, const Rows& groups, std::int64_t g) {
  const auto columns = static_cast<std::size_t>(groups.columns);
  return values.subspan(static_cast<std::size_t>(g) * columns, columns);
}

/// `kernels::magnitudes_above` as a plain loop, with the same order of additions.
kernels::Magnitudes magnitudes_above_reference(float threshold, std::span<const float> x);

/// `CodeUnits::group` if the groups are the tensor or its rows along the last axis; empty otherwise.
std::optional<std::int64_t> unit_group(const Rows& groups, const Sizes& sizes);

/// Converts a float to a shared code of 32 bits, and back.
std::uint32_t float_code(float value);
float float_value(std::uint32_t code);

/// Sets a parameter with words to `word` if it is `auto` (its first word).
void resolve_auto(Format& format, std::string_view parameter, std::string_view word);

}  // namespace hone
