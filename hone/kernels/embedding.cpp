#include "hone/kernels/embedding.h"

#include <algorithm>
#include <vector>

#include "hone/kernels/grain.h"

namespace hone::kernels {
namespace {

// The positions t of `ids`, sorted by the chunk of `grain` rows that contains ids[t], in the order of t within a chunk.
// Those of chunk k are at [starts[k], starts[k + 1]).
struct PositionsByChunk {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> positions;

  void sort(std::int64_t chunks, std::int64_t grain, std::int64_t count, const std::int64_t* ids) {
    starts.assign(static_cast<std::size_t>(chunks + 1), 0);
    positions.resize(static_cast<std::size_t>(count));
    for (std::int64_t t = 0; t < count; ++t) ++starts[static_cast<std::size_t>(ids[t] / grain)];
    std::int64_t end = 0;
    for (std::int64_t& start : starts) start = end += start;  // now the end of each chunk
    for (std::int64_t t = count - 1; t >= 0; --t) {
      positions[static_cast<std::size_t>(--starts[static_cast<std::size_t>(ids[t] / grain)])] = t;
    }
  }
};

}  // namespace

void gather_rows(ThreadPool& pool, std::int64_t width, const float* table, std::int64_t count,
                 const std::int64_t* ids, float* y) {
  parallel_ranges(pool, count, rows_per_chunk(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t)
      std::copy_n(table + ids[t] * width, width, y + t * width);
  });
}

void gather_rows_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                          std::int64_t count, const std::int64_t* ids, const float* dy,
                          float* dtable) {
  static thread_local PositionsByChunk by_chunk;
  const std::int64_t grain = rows_per_chunk(width);
  by_chunk.sort((rows + grain - 1) / grain, grain, count, ids);
  const PositionsByChunk& sorted = by_chunk;  // that of the calling thread
  parallel_ranges(pool, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(dtable + begin * width, dtable + end * width, 0.0f);
    const auto chunk = static_cast<std::size_t>(begin / grain);
    for (std::int64_t i = sorted.starts[chunk]; i < sorted.starts[chunk + 1]; ++i) {
      const std::int64_t t = sorted.positions[static_cast<std::size_t>(i)];
      float* const to = dtable + ids[t] * width;
      const float* const from = dy + t * width;
      for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
    }
  });
}

void gather_rows_gradient_by_row(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                                 std::int64_t count, const std::int64_t* ids, std::int64_t padding,
                                 const float* dy, std::int64_t* named, float* sums) {
  static thread_local std::vector<std::int64_t> place_of_row, place_of_id;
  place_of_row.assign(static_cast<std::size_t>(rows), -1);
  place_of_id.resize(static_cast<std::size_t>(count));
  std::int64_t places = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    std::int64_t& place = place_of_row[static_cast<std::size_t>(ids[t])];
    if (place < 0 && ids[t] != padding) {
      named[places] = ids[t];
      place = places++;
    }
    place_of_id[static_cast<std::size_t>(t)] = place;
  }
  std::fill(named + places, named + count, std::int64_t{-1});
  // Each chunk sums some columns of all rows.
  constexpr std::int64_t kColumns = 64;
  const std::vector<std::int64_t>& place = place_of_id;  // that of the calling thread
  parallel_ranges(pool, width, kColumns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < count; ++i)
      std::fill(sums + i * width + begin, sums + i * width + end, 0.0f);
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t to = place[static_cast<std::size_t>(t)];
      if (to < 0) continue;
      for (std::int64_t c = begin; c < end; ++c) sums[to * width + c] += dy[t * width + c];
    }
  });
}

}  // namespace hone::kernels
