// The micro-kernel of products: multiplies a panel of rows by a panel of columns and sums in registers. Compiled once
// per Highway target.
//
//   AVX-512: 8 rows x 3 vectors of 16, 24 accumulators in 32 registers;  else 4 x 3, 12 in 16.
//
// Per step it loads 3 vectors of columns and broadcasts kPanelRows values of rows, so loads stay under half of the
// multiply-adds. A sum begins with zero and takes one fused multiply-add after the other, for any vector width. A
// `Finish` consumes the sums:
//
//     struct Store {
//       template <int kRows, int kVectors>
//       HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const;   // once, with all sums
//       template <int kRows, int kVectors>
//       HWY_INLINE void announce() const;                                      // before the first step: may prefetch
//     };
//     micro_kernel<Store>(rows, vectors)(row_panel, depth, column_panel, Store{});
//
// Most callers use `KeepSums`, below.
#if defined(HONE_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_GEMM_TILE_INL_H_
#undef HONE_KERNELS_GEMM_TILE_INL_H_
#else
#define HONE_KERNELS_GEMM_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <utility>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using SumVector = hn::Vec<Floats>;

inline constexpr int kPanelVectors = 3;
inline constexpr std::int64_t kFloatsPerLine = 64 / sizeof(float);
inline constexpr int kPanelRows = kLanes == 16 ? 8 : 4;

// Up to kPanelRows rows, packed or in place: value l of row i is data[i * row_stride + l * depth_stride].
struct RowPanel {
  const float* data;
  std::int64_t row_stride;
  std::int64_t depth_stride;
};

// Packed columns: value l of column j is data[l * width + j], with a width of 1 to kPanelVectors vectors. Every step
// prefetches two cache lines from `ahead`, which advances by `ahead_step` floats per step.
struct ColumnPanel {
  const float* data;
  const float* ahead = nullptr;  // null: no prefetch
  std::int64_t ahead_step = 0;
};

// Stores the sums of a piece, or adds them to the stored values.
struct KeepSums {
  float* sums;
  std::int64_t stride;
  bool add;

  template <int kRows, int kVectors>
  HWY_INLINE void announce() const {}

  template <int kRows, int kVectors>
  HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const {
    add ? put<true>(sum) : put<false>(sum);
  }

  KeepSums at(std::int64_t row, std::int64_t column) const {
    return {sums + row * stride + column, stride, add};
  }

 private:
  template <bool kAdd, int kRows, int kVectors>
  HWY_INLINE void put(const SumVector (&sum)[kRows][kVectors]) const {
    const Floats d;
    float* row = sums;  // a copy, which stores cannot alias
    const std::int64_t step = stride;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i, row += step) {
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) {
        float* const to = row + j * kLanes;
        hn::StoreU(kAdd ? hn::Add(hn::LoadU(d, to), sum[i][j]) : sum[i][j], d, to);
      }
    }
  }
};

// Computes the sums of kRows rows and kVectors vectors of columns over `depth` steps and passes them to `finish`.
template <int kRows, int kVectors, class Finish>
void multiply_panels(const RowPanel& rows, std::int64_t depth, const ColumnPanel& columns,
                     const Finish& finish) {
  const Floats d;
  const float* HWY_RESTRICT a = rows.data;
  const float* HWY_RESTRICT b = columns.data;
  const float* ahead = columns.ahead;
  const std::int64_t ahead_step = columns.ahead_step;
  const bool fetches = ahead != nullptr;  // loop-invariant: the compiler makes two loops
  SumVector sum[kRows][kVectors];
  // Without full unrolling, here and below, the compiler keeps the sums in memory.
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  finish.template announce<kRows, kVectors>();
  for (std::int64_t l = 0; l < depth; ++l) {
    if (fetches) {
      __builtin_prefetch(ahead, 0, 2);
      __builtin_prefetch(ahead + kFloatsPerLine, 0, 2);
      ahead += ahead_step;
    }
    SumVector right[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) right[j] = hn::Load(d, b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const SumVector left = hn::Set(d, a[i * rows.row_stride]);
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(left, right[j], sum[i][j]);
    }
    a += rows.depth_stride;
    b += kVectors * kLanes;
  }
  finish.take(sum);
}

template <class Finish>
using MultiplyPanels = void (*)(const RowPanel&, std::int64_t, const ColumnPanel&, const Finish&);

// The micro-kernels for 1 to kPanelRows rows and 1 to kPanelVectors vectors.
template <class Finish>
using MicroKernels = std::array<std::array<MultiplyPanels<Finish>, kPanelVectors>, kPanelRows>;

template <class Finish, int... kRow>
constexpr MicroKernels<Finish> micro_kernels(std::integer_sequence<int, kRow...>) {
  return {{{multiply_panels<kRow + 1, 1, Finish>, multiply_panels<kRow + 1, 2, Finish>,
            multiply_panels<kRow + 1, 3, Finish>}...}};
}

template <class Finish>
MultiplyPanels<Finish> micro_kernel(std::int64_t rows, std::int64_t vectors) {
  static_assert(kPanelVectors == 3);
  static constexpr MicroKernels<Finish> kTable =
      micro_kernels<Finish>(std::make_integer_sequence<int, kPanelRows>());
  return kTable[static_cast<std::size_t>(rows - 1)][static_cast<std::size_t>(vectors - 1)];
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
