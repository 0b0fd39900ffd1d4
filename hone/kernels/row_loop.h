#pragma once

#include <array>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/grain.h"

/// Loops of kernels over the rows of a (rows, columns) array, and statistics of one row. Work is split by shape alone,
/// so results do not depend on the number of threads.
namespace hone::kernels {

/// Calls body(row) for every row, in parallel. A few long rows run one after the other, so that body itself can use the
/// pool.
template <typename Body>
void for_rows(ThreadPool& pool, std::int64_t rows, std::int64_t columns, Body&& body) {
  if (rows < kMaxPartials && columns > kChunkElements) {
    for (std::int64_t row = 0; row < rows; ++row) body(row);
    return;
  }
  parallel_ranges(pool, rows, rows_per_chunk(columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

/// Returns the number of elements per piece when a statistic of `count` elements is combined from pieces.
inline std::int64_t piece_elements(std::int64_t count) { return rows_per_partial(count, 1); }

/// Computes a statistic of `count` elements: of(begin, end) for every piece, in parallel, combined in order by
/// combine(T& all, const T& next).
template <typename T, typename Of, typename Combine>
T of_pieces(ThreadPool& pool, std::int64_t count, Of&& of, Combine&& combine) {
  const std::int64_t piece = piece_elements(count);
  if (count <= piece) return of(std::int64_t{0}, count);
  std::array<T, kMaxPartials> parts{};
  parallel_ranges(pool, count, piece, [&](std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(begin / piece)] = of(begin, end);
  });
  T all = parts[0];
  for (std::int64_t i = 1; i * piece < count; ++i) combine(all, parts[static_cast<std::size_t>(i)]);
  return all;
}

}  // namespace hone::kernels
