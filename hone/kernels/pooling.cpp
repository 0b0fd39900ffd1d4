// The largest value of a window (NaN counts as larger than all) is the maximum of its column maxima: first over rows, a
// vector at a time, then along the row.
#include "hone/kernels/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/pooling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Indices = hn::RebindToSigned<Floats>;

// Returns the larger of two values, the first if they are equal. NaN is kept.
HWY_INLINE hn::Vec<Floats> larger(hn::Vec<Floats> best, hn::Vec<Floats> next) {
  return hn::IfThenElse(hn::Or(hn::Gt(next, best), hn::IsNaN(next)), next, best);
}

// Sets columns[j] to the largest value of rows [begin, end) at j.
void largest_of_rows(const float* plane, std::int64_t width, std::int64_t begin, std::int64_t end,
                     float* columns) {
  const Floats d;
  for_vectors(d, width, [&](std::int64_t j, auto part) HWY_ATTR {
    auto best = load(d, plane + begin * width + j, part);
    for (std::int64_t row = begin + 1; row < end; ++row)
      best = larger(best, load(d, plane + row * width + j, part));
    store(best, d, columns + j, part);
  });
}

// Sets y[j] to the largest of columns[j stride, j stride + kernel), which include padding.
void largest_of_columns(const PoolingShape& s, const float* columns, float* y) {
  const Floats d;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
  const std::int64_t count = s.result_width();
  if (s.stride == 2 && count >= kWidth) {
    // The last vector ends with the row and overlaps the previous one.
    for (std::int64_t begin = 0; begin < count; begin += kWidth) {
      const std::int64_t j = std::min(begin, count - kWidth);
      hn::Vec<Floats> best, next, other;
      hn::LoadInterleaved2(d, columns + 2 * j, best, other);
      for (std::int64_t v = 1; v < s.kernel; ++v) {
        hn::LoadInterleaved2(d, columns + 2 * j + v, next, other);
        best = larger(best, next);
      }
      hn::StoreU(best, d, y + j);
    }
    return;
  }
  for (std::int64_t j = 0; j < count; ++j) {
    float best = columns[j * s.stride];
    for (std::int64_t v = 1; v < s.kernel; ++v) {
      const float next = columns[j * s.stride + v];
      if (next > best || std::isnan(next)) best = next;
    }
    y[j] = best;
  }
}

void pool_plane(const PoolingShape& s, const float* plane, float* y) {
  static thread_local Scratch scratch;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
  // Padding is -infinity; a vector of pairs may read past the last window.
  const std::int64_t padded = s.width + 2 * s.padding;
  float* const columns = scratch.floats(static_cast<std::size_t>(padded + 2 * kWidth));
  std::fill_n(columns, padded + 2 * kWidth, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < s.result_height(); ++i) {
    const std::int64_t first = i * s.stride - s.padding;
    largest_of_rows(plane, s.width, std::max<std::int64_t>(0, first),
                    std::min(s.height, first + s.kernel), columns + s.padding);
    largest_of_columns(s, columns, y + i * s.result_width());
  }
}

// Returns the index in the plane of the first largest value of a window.
std::int64_t first_largest(const PoolingShape& s, const float* plane, std::int64_t row,
                           std::int64_t column) {
  std::int64_t best = std::max<std::int64_t>(0, row) * s.width + std::max<std::int64_t>(0, column);
  for (std::int64_t i = std::max<std::int64_t>(0, row); i < std::min(s.height, row + s.kernel); ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, column);
         j < std::min(s.width, column + s.kernel); ++j)
      if (plane[i * s.width + j] > plane[best] || std::isnan(plane[i * s.width + j]))
        best = i * s.width + j;
  return best;
}

// The same for a vector of windows, the first at `column`. `padded` contains the rows of the plane with padding at both
// ends.
template <int kStride>
HWY_INLINE hn::Vec<Indices> first_largest_of(const PoolingShape& s, const float* padded,
                                             std::int64_t padded_width, std::int64_t row,
                                             std::int64_t column) {
  const Floats d;
  const Indices d_index;
  const auto index_of = [&](std::int64_t i)
                            HWY_ATTR { return hn::Set(d_index, static_cast<std::int32_t>(i)); };
  const auto columns = hn::Add(index_of(column), hn::ShiftLeft<kStride - 1>(hn::Iota(d_index, 0)));
  const std::int64_t first = std::max<std::int64_t>(0, row);
  // If all values are -infinity, the first one of the window inside the plane.
  auto where = hn::Add(index_of(first * s.width), hn::Max(columns, hn::Zero(d_index)));
  auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = first; i < std::min(s.height, row + s.kernel); ++i) {
    const float* const from = padded + i * padded_width + column + s.padding;
    auto here = hn::Add(index_of(i * s.width), columns);
    for (std::int64_t v = 0; v < s.kernel; ++v, here = hn::Add(here, hn::Set(d_index, 1))) {
      hn::Vec<Floats> next, other;
      if constexpr (kStride == 1)
        next = hn::LoadU(d, from + v);
      else
        hn::LoadInterleaved2(d, from + v, next, other);
      const auto is_larger = hn::Or(hn::Gt(next, best), hn::IsNaN(next));
      best = hn::IfThenElse(is_larger, next, best);
      where = hn::IfThenElse(hn::RebindMask(d_index, is_larger), here, where);
    }
  }
  return where;
}

template <int kStride>
void scatter_gradient_rows(const PoolingShape& s, const float* plane, const float* dy, float* dx) {
  static thread_local Scratch scratch;
  const Indices d_index;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Indices()));
  // Windows after the last one are read, too.
  const std::int64_t padded_width = s.width + 2 * s.padding + 2 * kWidth;
  float* const padded = scratch.floats(static_cast<std::size_t>(s.height * padded_width));
  std::fill_n(padded, s.height * padded_width, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < s.height; ++i)
    std::copy_n(plane + i * s.width, s.width, padded + i * padded_width + s.padding);
  const std::int64_t count = s.result_width();
  HWY_ALIGN std::int32_t where[kWidth];
  for (std::int64_t i = 0; i < s.result_height(); ++i, dy += count) {
    for (std::int64_t j = 0; j < count; j += kWidth) {
      hn::Store(first_largest_of<kStride>(s, padded, padded_width, i * s.stride - s.padding,
                                          j * s.stride - s.padding),
                d_index, where);
      for (std::int64_t lane = 0; lane < std::min(kWidth, count - j); ++lane)
        dx[where[lane]] += dy[j + lane];
    }
  }
}

// Adds dy of each window of a plane to dx, which is zero.
void scatter_gradient(const PoolingShape& s, const float* plane, const float* dy, float* dx) {
  constexpr std::int64_t kMaxPixels = std::numeric_limits<std::int32_t>::max() / 2;
  if (s.stride <= 2 && s.height * s.width <= kMaxPixels)
    return s.stride == 1 ? scatter_gradient_rows<1>(s, plane, dy, dx)
                         : scatter_gradient_rows<2>(s, plane, dy, dx);
  for (std::int64_t i = 0; i < s.result_height(); ++i)
    for (std::int64_t j = 0; j < s.result_width(); ++j)
      dx[first_largest(s, plane, i * s.stride - s.padding, j * s.stride - s.padding)] += *dy++;
}

float mean_of_plane(std::int64_t pixels, const float* plane) {
  const Floats d;
  const float sum = sum_of_terms(
      pixels, [&](std::int64_t i, auto part) HWY_ATTR { return load(d, plane + i, part); });
  return sum / static_cast<float>(pixels);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(pool_plane);
HWY_EXPORT(scatter_gradient);
HWY_EXPORT(mean_of_plane);

template <class Body>
void for_each_plane(ThreadPool& pool, std::int64_t planes, std::int64_t pixels, Body&& body) {
  parallel_ranges(pool, planes, rows_per_chunk(pixels), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) body(plane);
  });
}

}  // namespace

void max_pool(ThreadPool& pool, const PoolingShape& s, const float* x, float* y) {
  const std::int64_t results = s.result_height() * s.result_width();
  for_each_plane(pool, s.planes, s.height * s.width, [&](std::int64_t plane) {
    HWY_DYNAMIC_DISPATCH(pool_plane)(s, x + plane * s.height * s.width, y + plane * results);
  });
}

void max_pool_gradient(ThreadPool& pool, const PoolingShape& s, const float* x, const float* dy,
                       float* dx) {
  const std::int64_t pixels = s.height * s.width, results = s.result_height() * s.result_width();
  for_each_plane(pool, s.planes, pixels, [&](std::int64_t plane) {
    float* const to = dx + plane * pixels;
    std::fill_n(to, pixels, 0.0f);
    HWY_DYNAMIC_DISPATCH(scatter_gradient)(s, x + plane * pixels, dy + plane * results, to);
  });
}

void average_pool(ThreadPool& pool, std::int64_t planes, std::int64_t pixels, const float* x,
                  float* y) {
  for_each_plane(pool, planes, pixels, [&](std::int64_t plane) {
    y[plane] = HWY_DYNAMIC_DISPATCH(mean_of_plane)(pixels, x + plane * pixels);
  });
}

void average_pool_gradient(ThreadPool& pool, std::int64_t planes, std::int64_t pixels,
                           const float* dy, float* dx) {
  for_each_plane(pool, planes, pixels, [&](std::int64_t plane) {
    std::fill_n(dx + plane * pixels, pixels, dy[plane] / static_cast<float>(pixels));
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
