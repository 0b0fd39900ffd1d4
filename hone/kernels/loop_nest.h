#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hone/base/error.h"

/// Nested loops over strided arrays of one shape, with loops merged where strides allow.
namespace hone::kernels {

/// Largest number of dimensions of a tensor.
inline constexpr int kMaxRank = 6;

/// `Operands` arrays of one shape: element (i0, i1, ...) of operand a is at sum of i_d strides[a][d]. Dimensions of
/// size 1 are dropped, and neighbouring dimensions that are contiguous in all operands are merged. So (rows, columns)
/// plus a vector of columns has rank 2, and two contiguous tensors have rank 1. The rank is at least 1.
template <int Operands>
struct LoopNest {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::array<std::int64_t, kMaxRank>, Operands> strides{};

  /// `all_strides[a]` are the strides of operand a, one for each dimension of `shape`.
  LoopNest(std::span<const std::int64_t> shape,
           const std::array<std::span<const std::int64_t>, Operands>& all_strides) {
    HONE_ASSERT(shape.size() <= kMaxRank, "rank {} above {}", shape.size(), kMaxRank);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      bool merges = rank > 0;
      for (int a = 0; a < Operands; ++a) {
        HONE_ASSERT(all_strides[a].size() == shape.size(), "{} strides for rank {}",
                    all_strides[a].size(), shape.size());
        merges = merges && strides[a][rank - 1] == all_strides[a][d] * shape[d];
      }
      const int at = merges ? rank - 1 : rank++;
      sizes[at] = merges ? sizes[at] * shape[d] : shape[d];
      for (int a = 0; a < Operands; ++a) strides[a][at] = all_strides[a][d];
    }
    if (rank > 0) return;
    rank = 1;
    sizes[0] = 1;
  }

  std::int64_t elements() const {
    std::int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= sizes[d];
    return product;
  }

  std::int64_t inner_size() const { return sizes[rank - 1]; }
  std::int64_t inner_stride(int operand) const { return strides[operand][rank - 1]; }

  /// Returns the offsets of element `index` in row-major order.
  std::array<std::int64_t, Operands> offsets(std::int64_t index) const {
    return offsets_of(position_of(index));
  }

  /// Visits the elements [begin, end), in row-major order, as runs within the innermost dimension:
  /// calls body(index, count, offsets) for `count` elements from `index` on that are `inner_stride`
  /// apart.
  template <typename Body>
  void for_runs(std::int64_t begin, std::int64_t end, Body&& body) const {
    if (begin >= end) return;
    Position position = position_of(begin);
    std::array<std::int64_t, Operands> at = offsets_of(position);
    while (begin < end) {
      const std::int64_t left = inner_size() - position[rank - 1];
      const std::int64_t count = left < end - begin ? left : end - begin;
      body(begin, count, at);
      begin += count;
      advance(position, at);
    }
  }

 private:
  using Position = std::array<std::int64_t, kMaxRank>;

  Position position_of(std::int64_t index) const {
    Position position{};
    for (int d = rank - 1; d >= 0; --d) {
      position[d] = index % sizes[d];
      index /= sizes[d];
    }
    return position;
  }

  std::array<std::int64_t, Operands> offsets_of(const Position& position) const {
    std::array<std::int64_t, Operands> result{};
    for (int a = 0; a < Operands; ++a) {
      for (int d = 0; d < rank; ++d) result[a] += position[d] * strides[a][d];
    }
    return result;
  }

  // Moves to the beginning of the next run.
  void advance(Position& position, std::array<std::int64_t, Operands>& at) const {
    for (int a = 0; a < Operands; ++a) at[a] -= position[rank - 1] * strides[a][rank - 1];
    position[rank - 1] = 0;
    for (int d = rank - 2; d >= 0; --d) {
      const bool wraps = ++position[d] == sizes[d];
      const std::int64_t steps = wraps ? 1 - sizes[d] : 1;
      for (int a = 0; a < Operands; ++a) at[a] += steps * strides[a][d];
      if (!wraps) return;
      position[d] = 0;
    }
  }
};

}  // namespace hone::kernels
