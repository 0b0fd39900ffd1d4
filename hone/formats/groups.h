#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hone/formats/format.h"
#include "hone/kernels/magnitude.h"

/// Formats whose values share a scale in groups: the rows of a tensor, or all of it.
namespace hone {

/// One group of everything.
Rows whole_tensor(const Sizes& sizes);
/// A group for each position on the first axis, whatever the others are; one for rank 0 and 1.
Rows slices_of(const Sizes& sizes);

/// The values of group `g`.
template <typename T>
std::span<T> group_of(std::span<T> values, const Rows& groups, std::int64_t g) {
  const auto columns = static_cast<std::size_t>(groups.columns);
  return values.subspan(static_cast<std::size_t>(g) * columns, columns);
}

/// `kernels::magnitudes_above` as a plain loop: the same additions in the same order.
kernels::Magnitudes magnitudes_above_reference(float threshold, std::span<const float> x);

/// `CodeUnits::group` of groups that are the tensor or its rows along the last axis; none of others.
std::optional<std::int64_t> unit_group(const Rows& groups, const Sizes& sizes);

/// A float as a shared code of 32 bits, and back.
std::uint32_t float_code(float value);
float float_value(std::uint32_t code);

/// Gives a parameter of words that was left at `auto` (its first word) the word that follows from
/// the others.
void settle(Format& format, std::string_view parameter, std::string_view word);

}  // namespace hone
