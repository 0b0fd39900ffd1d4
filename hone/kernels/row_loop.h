#pragma once

#include <array>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/grain.h"

/// Kernels that treat every row of a (rows, columns) array on its own, and statistics of one row.
/// Work is cut by shape alone, so results do not depend on the number of threads.
namespace hone::kernels {

/// Calls body(row) for every row, rows in parallel. A few long rows come one after the other, so
/// that what body does to a row can be cut in its turn.
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

/// Elements of one piece where a statistic of `count` elements is put together from pieces.
inline std::int64_t piece_elements(std::int64_t count) { return rows_per_partial(count, 1); }

/// The statistic of `count` elements: of(begin, end) of every piece, pieces in parallel, put
/// together in order by combine(T& all, const T& next).
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
