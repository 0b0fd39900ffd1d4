#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rows of a table selected by ids. The caller has checked that all ids are in [0, rows).
namespace hone::kernels {

/// Computes y[t] = table[ids[t]]; table (rows, width), ids (count), y (count, width).
void gather_rows(ThreadPool& pool, std::int64_t width, const float* table, std::int64_t count,
                 const std::int64_t* ids, float* y);

/// Computes dtable[r] = sum over t with ids[t] = r of dy[t], added in the order of t; dy (count, width), dtable (rows,
/// width), overwritten.
void gather_rows_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                          std::int64_t count, const std::int64_t* ids, const float* dy,
                          float* dtable);

/// The same for only the rows that occur in `ids`. named (count): the distinct ids in the order of their first
/// occurrence, without `padding` (-1: none is excluded), then -1; sums (count, width): the sum of dy for each of them,
/// added in the order of t, then 0.
void gather_rows_gradient_by_row(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                                 std::int64_t count, const std::int64_t* ids, std::int64_t padding,
                                 const float* dy, std::int64_t* named, float* sums);

}  // namespace hone::kernels
