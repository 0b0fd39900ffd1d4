#pragma once

#include <array>
#include <string_view>

#include "hone/runtime/kernel.h"

/// How operands lie beside the result that they are stretched to.
namespace hone {

/// Strides that walk an operand in step with a result of such sizes: 0 along the dimensions it is stretched over.
Sizes stretched(const Tensor& operand, const Sizes& sizes);

/// The leading dimensions of a product of matrices, two of them, 1 where there are fewer, and how far apart the matrices of both
/// operands and of the result are.
struct MatrixBatches {
  std::array<std::int64_t, 2> counts{1, 1}, a{}, b{}, y{};
};
/// Of a call of `matmul` whose result has at most two leading dimensions.
MatrixBatches matrix_batches(const Call& call);
/// "" where a result of `matmul` has no more.
std::string_view two_batch_dimensions(const CallSite& site);

/// Whether the first operand's rows, of whatever matrix, are multiplied by one matrix.
bool rows_times_matrix(const Call& call);

}  // namespace hone
