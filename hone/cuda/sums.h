#pragma once

#include "hone/cuda/launch.h"

/// Sums over dimensions, with the same bits in every run: the shape alone determines how terms are split into chunks.
namespace hone::cuda {

/// Numbers in GPU memory: f32, bf16 or f16.
struct Summands {
  const void* data = nullptr;
  DType dtype = DType::f32;
};

/// Computes y = x summed in fp32 over the dimensions where `kept` is 1 and `shape` is not. `shape` and `kept` have the
/// same rank, at most 6, and agree in all other dimensions. x and y are dense and have one type. `workspace` has room
/// for `sum_workspace_bytes` of that many terms for that many results.
void sum_to(Device& device, const Sizes& shape, const Summands& x, const Sizes& kept, void* y,
            float* workspace);
std::int64_t sum_workspace_bytes(std::int64_t terms, std::int64_t results);

/// Computes y (columns) = the sum of few rows x (rows, columns).
void sum_of_rows(Device& device, std::int64_t rows, std::int64_t columns, const float* x, float* y);

}  // namespace hone::cuda
