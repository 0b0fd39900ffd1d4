#pragma once
// What the kernels of rows of whole numbers of a byte are told, for both compilers.
#include <cstdint>

namespace hone::cuda {

/// `kernels::Int8Rows` of one block a row.
struct CodedRows {
  std::int64_t rows, columns, stride;
  std::int8_t* codes;
  float* scales;
  std::int32_t* starts;
};

/// Codes between -bound and bound: of one scale in a state, or where that is null of one for each row, from its values.
struct CodeGrid {
  float bound;
  const float* scale;
};

/// What stored codes stand for, in steps of their unit.
struct WholeNumbers {
  std::int8_t of[256];
};

/// Sums of rows from `first` on, `stride` apart, and what makes values of them.
struct CodeSums {
  const std::int32_t* sums;
  std::int64_t stride;
  const float *weight_scales, *x_scales, *bias;
  const float* residual;  ///< null: none
  std::int64_t first, rows, columns;
};

}  // namespace hone::cuda
