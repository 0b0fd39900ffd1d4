#pragma once

#include "hone/ir/call.h"
#include "hone/kernels/attention.h"

/// Converts calls of `attention` and its gradient to the arguments of kernels.
namespace hone {

/// The arguments of a call, including the inputs after its first `operands` operands.
struct AttentionCall {
  kernels::AttentionShape shape;
  float scale = 1;
  kernels::KeyMask mask = {};
  kernels::WeightDropout dropout = {};
  kernels::TextRuns runs = {};
  bool is_valid = true;  ///< if false, the reference reports the error

  AttentionCall(const Call& call, std::size_t operands);

 private:
  void take_runs(const Call& call, std::size_t texts_at);
};

/// Zeroes the results if the batch has tokens that belong to no text, because kernels do not write those.
void clear_rest(Call& call);

/// An operand (B, T, N, D), which may be strided.
template <typename T>
kernels::HeadsOf<const T> heads_of_operand(const Call& call, std::size_t index, const T* data) {
  const Sizes& strides = call.input(index).strides();
  return {data, strides[0], strides[2], strides[1]};
}

/// A result (B, S, N, D).
template <typename T>
kernels::HeadsOf<T> heads_of_result(Call& call, std::size_t index, T* data) {
  const Tensor& y = call.output(index);
  const std::int64_t size = y.size(3), token = y.size(2) * size;
  return {data, y.size(1) * token, size, token};
}

}  // namespace hone
