#include "hone/kernels/sparse_float_matrix.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "hone/base/error.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/half_conversion.h"

namespace hone::kernels {
namespace {

constexpr std::int64_t kMaxTogether = 4;

void check(const SparseFloatMatrix& matrix) {
  HONE_ASSERT(matrix.rows >= 0 && matrix.columns >= 0, "a sparse matrix of {} x {}", matrix.rows,
              matrix.columns);
  HONE_ASSERT(matrix.together == 1 || matrix.together == kMaxTogether,
              "a sparse matrix with blocks of {} rows", matrix.together);
  HONE_ASSERT(matrix.bits == 16 || matrix.bits == 32, "a sparse matrix of {} bits", matrix.bits);
}

// Returns the size of ends and columns, which precede the values.
std::int64_t value_offset(const SparseFloatMatrix& matrix, std::int64_t entries) {
  return 4 * matrix.lists() + 4 * ceil_div(entries, 2);
}

// A list and its block of the dense matrix.
struct DenseBlock {
  std::int64_t list;
  std::int64_t row, rows;
  std::int64_t column, end;
};

// Calls body(block) for all lists, in parallel.
template <typename Body>
void for_lists(ThreadPool& pool, const SparseFloatMatrix& matrix, Body&& body) {
  const std::int64_t groups = matrix.groups(), grain = rows_per_chunk(kGemmDepth * matrix.together);
  parallel_ranges(pool, matrix.lists(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t list = begin; list < end; ++list) {
      const std::int64_t block = list / groups, row = list % groups * matrix.together;
      body(DenseBlock{list, row, std::min<std::int64_t>(matrix.together, matrix.rows - row),
                      matrix.block_begin(block), matrix.block_begin(block + 1)});
    }
  });
}

// Calls body(column) for the columns that have an entry.
template <typename Body>
void for_entries(const SparseFloatMatrix& matrix, const DenseBlock& block, const float* dense,
                 Body&& body) {
  const float* const first = dense + block.row * matrix.columns;
  for (std::int64_t column = block.column; column < block.end; ++column) {
    bool kept = false;
    for (std::int64_t r = 0; r < block.rows; ++r)
      kept = kept || first[r * matrix.columns + column] != 0;
    if (kept) body(column);
  }
}

// Branch-free, so that the compiler vectorizes it.
std::int32_t count_nonzero(const float* row, std::int64_t begin, std::int64_t end) {
  std::int32_t count = 0;
  for (std::int64_t column = begin; column < end; ++column) count += row[column] != 0 ? 1 : 0;
  return count;
}

std::vector<std::int64_t> count_entries(ThreadPool& pool, const SparseFloatMatrix& matrix,
                                        const float* dense) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(matrix.lists()));
  for_lists(pool, matrix, [&](const DenseBlock& block) {
    std::int64_t& count = counts[static_cast<std::size_t>(block.list)];
    if (matrix.together == 1) {
      count = count_nonzero(dense + block.row * matrix.columns, block.column, block.end);
      return;
    }
    for_entries(matrix, block, dense, [&](std::int64_t /*column*/) { ++count; });
  });
  return counts;
}

std::int64_t entries_of(const SparseFloatMatrix& matrix, const SparseFloatParts& parts) {
  return matrix.lists() == 0 ? 0 : parts.end(matrix.lists() - 1);
}

}  // namespace

std::int64_t SparseFloatMatrix::blocks() const {
  return std::max<std::int64_t>(1, ceil_div(columns, kGemmDepth));
}

std::int64_t sparse_entries(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense) {
  check(matrix);
  std::int64_t entries = 0;
  for (const std::int64_t count : count_entries(pool, matrix, dense)) entries += count;
  return entries;
}

std::size_t sparse_bytes(const SparseFloatMatrix& matrix, std::int64_t entries) {
  check(matrix);
  return static_cast<std::size_t>(value_offset(matrix, entries) +
                                  entries * matrix.together * matrix.bits / 8);
}

SparseFloatParts sparse_parts(const SparseFloatMatrix& matrix, const std::uint8_t* packed) {
  SparseFloatParts parts{};
  parts.ends = reinterpret_cast<const std::uint32_t*>(packed);
  parts.columns = reinterpret_cast<const std::uint16_t*>(packed + 4 * matrix.lists());
  parts.values = packed + value_offset(matrix, entries_of(matrix, parts));
  return parts;
}

void sparse_arrange(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense,
                    std::uint8_t* packed) {
  check(matrix);
  auto* const ends = reinterpret_cast<std::uint32_t*>(packed);
  std::int64_t entries = 0, list = 0;
  for (const std::int64_t count : count_entries(pool, matrix, dense)) {
    entries += count;
    HONE_ASSERT(entries <= std::numeric_limits<std::uint32_t>::max(),
                "a sparse matrix of {} entries", entries);
    ends[list++] = static_cast<std::uint32_t>(entries);
  }
  const SparseFloatParts parts = sparse_parts(matrix, packed);
  auto* const columns = reinterpret_cast<std::uint16_t*>(packed + 4 * matrix.lists());
  if (entries % 2 != 0) columns[entries] = 0;
  std::uint8_t* const values = packed + (parts.values - packed);
  for_lists(pool, matrix, [&](const DenseBlock& block) {
    ThreadPool alone(1);
    std::int64_t entry = parts.begin(block.list);
    for_entries(matrix, block, dense, [&](std::int64_t column) {
      float some[kMaxTogether] = {};
      for (std::int64_t r = 0; r < block.rows; ++r)
        some[r] = dense[(block.row + r) * matrix.columns + column];
      columns[entry] = static_cast<std::uint16_t>(column - block.column);
      const std::int64_t first = entry++ * matrix.together;
      if (matrix.bits == 32) {
        std::copy_n(some, matrix.together, reinterpret_cast<float*>(values) + first);
      } else {
        float_to_bfloat16(alone, matrix.together, some,
                          reinterpret_cast<std::uint16_t*>(values) + first);
      }
    });
  });
}

}  // namespace hone::kernels
