// Rounds results of products of integers to codes. Compiled once per Highway target.
#if defined(HONE_KERNELS_INT8_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_INT8_RESULTS_INL_H_
#undef HONE_KERNELS_INT8_RESULTS_INL_H_
#else
#define HONE_KERNELS_INT8_RESULTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/int8_results.h"
#include "hone/kernels/int8_rounding-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Largest number of rows of a chunk.
inline constexpr std::int64_t kMaxChunkRows = 96;

// Rounds the pieces of a chunk and keeps the sums of the codes of its rows.
class ChunkRounding {
 public:
  ChunkRounding(const Int8Target& to, std::int64_t first, std::int64_t rows)
      : to_(to), first_(first), count_(to.rows == nullptr ? 0 : rows) {
    std::fill_n(sums_, count_ * kLanes, 0);
  }

  HWY_INLINE void round(const Piece& piece) {
    const Floats d;
    const float bound = static_cast<float>((1 << (to_.grid.bits - 1)) - 1);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      const std::int64_t row = piece.row + i;
      const float* const x = piece.c + i * piece.c_stride;
      std::int32_t* const sum = sums_ + (row - first_) * kLanes;
      std::int8_t* const codes = to_.rows->codes + row * to_.rows->shape.stride() + piece.column;
      const auto added = round_run(piece.columns, x, 1.0f / to_.grid.scale, bound, codes);
      hn::StoreU(hn::Add(hn::LoadU(Words(), sum), added), Words(), sum);
      bool numbers = true;
      for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
        numbers &= hn::AllFalse(d, hn::IsNaN(load(d, x + j, part)));
      });
      // Atomic, since other threads may store the same value.
      if (HWY_UNLIKELY(!numbers))
        std::atomic_ref(to_.rows->scales[row]).store(kNotANumber, std::memory_order_relaxed);
    }
  }

  // Other chunks add other columns of the same rows; sums of integers do not depend on the order.
  void add_up() const {
    for (std::int64_t i = 0; i < count_; ++i) {
      const auto sum = hn::GetLane(hn::SumOfLanes(Words(), hn::LoadU(Words(), sums_ + i * kLanes)));
      std::atomic_ref(to_.rows->start(first_ + i, 0))
          .fetch_sub(static_cast<std::int32_t>(128u * static_cast<std::uint32_t>(sum)),
                     std::memory_order_relaxed);
    }
  }

 private:
  static constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  const Int8Target& to_;
  std::int64_t first_, count_;
  HWY_ALIGN std::int32_t sums_[kMaxChunkRows * kLanes];
};

// Prepares rows before codes are written: padding, scales and starts.
inline void begin_rows(const Int8Grid& grid, const Int8Rows& rows) {
  for (std::int64_t m = 0; m < rows.shape.rows; ++m) {
    std::int8_t* const codes = rows.codes + m * rows.shape.stride();
    std::fill(codes + rows.shape.columns, codes + rows.shape.stride(), std::int8_t{0});
    rows.scales[m] = grid.scale;
    rows.start(m, 0) = rows.origin(m, 0) = kSumOrigin;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
