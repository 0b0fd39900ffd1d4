// Transposes of small blocks, compiled once per Highway target.
#if defined(HONE_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_TRANSPOSE_INL_H_
#undef HONE_KERNELS_TRANSPOSE_INL_H_
#else
#define HONE_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// to[c * to_stride + r] = from[r * from_stride + c] for r, c in 0..3.
HWY_INLINE void transpose_4x4(const float* from, std::int64_t from_stride, float* to,
                              std::int64_t to_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<float, 4> d;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + from_stride);
  const auto row2 = hn::LoadU(d, from + 2 * from_stride);
  const auto row3 = hn::LoadU(d, from + 3 * from_stride);
  const auto lower02 = hn::InterleaveLower(d, row0, row2);
  const auto lower13 = hn::InterleaveLower(d, row1, row3);
  const auto upper02 = hn::InterleaveUpper(d, row0, row2);
  const auto upper13 = hn::InterleaveUpper(d, row1, row3);
  hn::StoreU(hn::InterleaveLower(d, lower02, lower13), d, to);
  hn::StoreU(hn::InterleaveUpper(d, lower02, lower13), d, to + to_stride);
  hn::StoreU(hn::InterleaveLower(d, upper02, upper13), d, to + 2 * to_stride);
  hn::StoreU(hn::InterleaveUpper(d, upper02, upper13), d, to + 3 * to_stride);
}

// to[c * to_stride + r] = from[r * from_stride + c] for r in [0, rows), c in [0, columns).
inline void transpose_block(const float* from, std::int64_t from_stride, std::int64_t rows,
                            std::int64_t columns, float* to, std::int64_t to_stride) {
  const std::int64_t whole_rows = rows / 4 * 4;
  const std::int64_t whole_columns = columns / 4 * 4;
  for (std::int64_t c = 0; c < whole_columns; c += 4) {
    for (std::int64_t r = 0; r < whole_rows; r += 4) {
      transpose_4x4(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    }
  }
  const auto copy = [&](std::int64_t row_begin, std::int64_t column_begin,
                        std::int64_t column_end) {
    for (std::int64_t c = column_begin; c < column_end; ++c) {
      for (std::int64_t r = row_begin; r < rows; ++r)
        to[c * to_stride + r] = from[r * from_stride + c];
    }
  };
  copy(whole_rows, 0, whole_columns);
  copy(0, whole_columns, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
