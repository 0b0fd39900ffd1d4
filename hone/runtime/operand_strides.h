#pragma once

#include <array>
#include <string_view>

#include "hone/runtime/kernel.h"

/// Strides of operands that are broadcast to the shape of a result.
namespace hone {

/// Returns the strides for reading an operand in step with a result of the given sizes: 0 along broadcast dimensions.
Sizes broadcast_operand_strides(const Tensor& operand, const Sizes& sizes);

/// The leading dimensions of a batched matrix product, always two, 1 for missing ones, and the distances between the
/// matrices of both operands and of the result.
struct MatrixBatches {
  std::array<std::int64_t, 2> counts{1, 1}, a{}, b{}, y{};
};
/// Returns those of a call of `matmul` whose result has at most two leading dimensions.
MatrixBatches matrix_batches(const Call& call);
/// Returns "" if a result of `matmul` has at most two leading dimensions, else a reason.
std::string_view two_batch_dimensions(const CallSite& site);

/// Returns whether all rows of the first operand are multiplied by one and the same matrix.
bool rows_times_matrix(const Call& call);

}  // namespace hone
