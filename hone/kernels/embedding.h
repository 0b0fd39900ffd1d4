#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rows of a table chosen by ids. All ids must be in [0, rows); the caller has checked.
namespace hone::kernels {

/// y[t] = table[ids[t]];  table (rows, width), ids (count), y (count, width).
void gather_rows(ThreadPool& pool, std::int64_t width, const float* table, std::int64_t count,
                 const std::int64_t* ids, float* y);

/// dtable[r] = sum over t with ids[t] = r of dy[t], added in the order of t;  dy (count, width),
/// dtable (rows, width), overwritten.
void gather_rows_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                          std::int64_t count, const std::int64_t* ids, const float* dy,
                          float* dtable);

/// The same without the rows that no id names. named (count): the ids in the order in which they come first, each once, but
/// `padding` (-1: none is left out), then -1; sums (count, width): of dy by them, in the order of t, then 0.
void gather_rows_gradient_by_row(ThreadPool& pool, std::int64_t rows, std::int64_t width,
                                 std::int64_t count, const std::int64_t* ids, std::int64_t padding,
                                 const float* dy, std::int64_t* named, float* sums);

}  // namespace hone::kernels
