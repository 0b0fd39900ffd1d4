#pragma once

#include <algorithm>
#include <span>

#include "hone/formats/format.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/half.h"
#include "hone/kernels/scaled_integer.h"

/// Formats with one float16 scale per group of neighbours along a row. The scale is rounded before codes are computed,
/// so packed weights have exactly the simulated values.
namespace hone {

/// The groups of a tensor: `size` neighbours along its last axis. The last group of a row may be narrower, and no group
/// crosses the end of its row.
struct RowGroups {
  Rows rows;
  std::int64_t size;
  std::int64_t per_row;

  RowGroups(const Sizes& sizes, std::int64_t group)
      : rows(rows_of(sizes)),
        size(std::min(group, std::max<std::int64_t>(1, rows.columns))),
        per_row((rows.columns + size - 1) / size) {}

  std::int64_t count() const { return rows.count * per_row; }

  /// Returns the values of group `g`.
  template <typename T>
  std::span<T> of(std::span<T> values, std::int64_t g) const {
    const std::int64_t first = g % per_row * size;
    return values.subspan(static_cast<std::size_t>(g / per_row * rows.columns + first),
                          static_cast<std::size_t>(std::min(size, rows.columns - first)));
  }

  /// Calls body(g) for all groups, in parallel.
  template <typename Body>
  void for_each(ThreadPool& pool, Body&& body) const {
    kernels::for_rows(pool, count(), size, body);
  }

  /// Returns the bits of element codes and shared codes; a shared code is a scale with a zero point of `zero_bits` bits
  /// above it.
  CodeLayout layout(int element_bits, int zero_bits, bool twos_complement) const {
    return {.element_bits = element_bits,
            .shared_bits = 16 + zero_bits,
            .shared_count = count(),
            .twos_complement = twos_complement,
            .half_scales = true};
  }
};

/// Returns the smallest and largest of the finite values and 0, with a plain loop.
kernels::ValueRange finite_range_reference(std::span<const float> x);

}  // namespace hone
