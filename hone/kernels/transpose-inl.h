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

// Loads four values from each of rows 0, 4, 8, ..., as many as fit in D, one row after the other.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> every_fourth_row(D d, const float* from,
                                                       std::int64_t from_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr std::int64_t kHalfRows = static_cast<std::int64_t>(hn::MaxLanes(half));
    return hn::Combine(d, every_fourth_row(half, from + kHalfRows * from_stride, from_stride),
                       every_fourth_row(half, from, from_stride));
  }
}

// Sets lane r of columns[c] to from[r * from_stride + c], for c in 0..3 and all lanes r of D.
template <class D>
HWY_INLINE void load_four_columns(D d, const float* from, std::int64_t from_stride,
                                  hwy::HWY_NAMESPACE::Vec<D> (&columns)[4]) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto row0 = every_fourth_row(d, from, from_stride);
  const auto row1 = every_fourth_row(d, from + from_stride, from_stride);
  const auto row2 = every_fourth_row(d, from + 2 * from_stride, from_stride);
  const auto row3 = every_fourth_row(d, from + 3 * from_stride, from_stride);
  const auto lower02 = hn::InterleaveLower(d, row0, row2);
  const auto lower13 = hn::InterleaveLower(d, row1, row3);
  const auto upper02 = hn::InterleaveUpper(d, row0, row2);
  const auto upper13 = hn::InterleaveUpper(d, row1, row3);
  columns[0] = hn::InterleaveLower(d, lower02, lower13);
  columns[1] = hn::InterleaveUpper(d, lower02, lower13);
  columns[2] = hn::InterleaveLower(d, upper02, upper13);
  columns[3] = hn::InterleaveUpper(d, upper02, upper13);
}

// Stores the same to memory, with columns `to_stride` apart.
template <class D>
HWY_INLINE void transpose_four_columns(D d, const float* from, std::int64_t from_stride, float* to,
                                       std::int64_t to_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::Vec<D> columns[4];
  load_four_columns(d, from, from_stride, columns);
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) hn::StoreU(columns[c], d, to + c * to_stride);
}

// Sets to[c * to_stride + r] = from[r * from_stride + c] for r in [0, rows), c in [0, columns). Transposes a vector of
// rows over their whole length before the next, so that only few cache lines are active, even if all map to one set.
inline void transpose_block(const float* from, std::int64_t from_stride, std::int64_t rows,
                            std::int64_t columns, float* to, std::int64_t to_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  const std::int64_t whole_columns = columns / 4 * 4;
  std::int64_t row = 0;
  const auto transpose_rows = [&](auto d) HWY_ATTR {
    constexpr auto kRows = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (; row + kRows <= rows; row += kRows) {
      for (std::int64_t c = 0; c < whole_columns; c += 4)
        transpose_four_columns(d, from + row * from_stride + c, from_stride,
                               to + c * to_stride + row, to_stride);
    }
  };
  transpose_rows(hn::CappedTag<float, 16>());
  transpose_rows(hn::CappedTag<float, 8>());
  transpose_rows(hn::FixedTag<float, 4>());
  const auto copy = [&](std::int64_t row_begin, std::int64_t column_begin,
                        std::int64_t column_end) {
    for (std::int64_t c = column_begin; c < column_end; ++c) {
      for (std::int64_t r = row_begin; r < rows; ++r)
        to[c * to_stride + r] = from[r * from_stride + c];
    }
  };
  copy(row, 0, whole_columns);
  copy(0, whole_columns, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
