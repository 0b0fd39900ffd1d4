#pragma once
// Strided operands of one shape, as hone/kernels/loop_nest.h makes them on the host.
#include "cstdint"

template <int kOperands>
struct LoopNest {
  int rank;
  std::int64_t sizes[6];
  std::int64_t strides[kOperands][6];
};

// For nonnegative numbers. Small ones, the usual case, divide much faster.
inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return ((a | b) >> 32) == 0 ? std::int64_t(std::uint32_t(a) / std::uint32_t(b)) : a / b;
}

// Adds to `offsets` those of element `index` of the first `rank` dimensions, counted in row-major order.
template <int kOperands>
void add_offsets(const LoopNest<kOperands>& nest, int rank, std::int64_t index,
                 std::int64_t (&offsets)[kOperands]) {
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t rest = d == 0 ? 0 : quotient(index, nest.sizes[d]);
    const std::int64_t at = index - rest * nest.sizes[d];
    for (int k = 0; k < kOperands; ++k) offsets[k] += at * nest.strides[k][d];
    index = rest;
  }
}

inline std::int64_t offset_of(const LoopNest<1>& nest, std::int64_t index) {
  std::int64_t offset[1] = {0};
  add_offsets(nest, nest.rank, index, offset);
  return offset[0];
}
