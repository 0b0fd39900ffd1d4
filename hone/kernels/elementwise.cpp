#include "hone/kernels/elementwise.h"

#include <algorithm>
#include <array>

#include "hone/kernels/grain.h"
#include "hone/kernels/loop_nest.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Reads an operand of a run: neighbouring elements or one element repeated.
struct Neighbours {
  const float* data;
  template <class Part>
  HWY_INLINE hn::Vec<Floats> at(std::int64_t i, Part part) const {
    return load(Floats(), data + i, part);
  }
};
struct Repeated {
  const float* data;
  template <class Part>
  HWY_INLINE hn::Vec<Floats> at(std::int64_t, Part) const {
    return hn::Set(Floats(), *data);
  }
};

template <class X, class Y, class Operation>
HWY_INLINE void combine(std::int64_t n, X x, Y y, float* out, Operation operation) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(operation(x.at(i, part), y.at(i, part)), d, out + i, part);
  });
}

// Computes out[i] = operation(x[i x_stride], y[i y_stride]) for i < n.
template <class Operation>
HWY_INLINE void combine_run(std::int64_t n, const float* x, std::int64_t x_stride, const float* y,
                            std::int64_t y_stride, float* out, Operation operation) {
  if (x_stride == 1 && y_stride == 1) {
    combine(n, Neighbours{x}, Neighbours{y}, out, operation);
  } else if (x_stride == 1 && y_stride == 0) {
    combine(n, Neighbours{x}, Repeated{y}, out, operation);
  } else if (x_stride == 0 && y_stride == 1) {
    combine(n, Repeated{x}, Neighbours{y}, out, operation);
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      combine(1, Repeated{x + i * x_stride}, Repeated{y + i * y_stride}, out + i, operation);
  }
}

void add_run(std::int64_t n, const float* x, std::int64_t x_stride, const float* y,
             std::int64_t y_stride, float* out) {
  combine_run(n, x, x_stride, y, y_stride, out,
              [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}

void multiply_run(std::int64_t n, const float* x, std::int64_t x_stride, const float* y,
                  std::int64_t y_stride, float* out) {
  combine_run(n, x, x_stride, y, y_stride, out,
              [](auto a, auto b) HWY_ATTR { return hn::Mul(a, b); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(add_run);
HWY_EXPORT(multiply_run);

using Run = void (*)(std::int64_t, const float*, std::int64_t, const float*, std::int64_t, float*);

void combine(ThreadPool& pool, Extents shape, const Strided& x, const Strided& y, float* out,
             Run run) {
  const LoopNest<2> nest(shape, {x.strides, y.strides});
  parallel_ranges(pool, nest.elements(), kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    nest.for_runs(begin, end, [&](std::int64_t index, std::int64_t count, const auto& offsets) {
      run(count, x.data + offsets[0], nest.inner_stride(0), y.data + offsets[1],
          nest.inner_stride(1), out + index);
    });
  });
}

}  // namespace

void add(ThreadPool& pool, Extents shape, const Strided& x, const Strided& y, float* out) {
  combine(pool, shape, x, y, out, &HWY_DYNAMIC_DISPATCH(add_run));
}

void multiply(ThreadPool& pool, Extents shape, const Strided& x, const Strided& y, float* out) {
  combine(pool, shape, x, y, out, &HWY_DYNAMIC_DISPATCH(multiply_run));
}

void scale(ThreadPool& pool, std::int64_t n, float factor, const float* x, float* y) {
  const std::array<std::int64_t, 1> shape = {n};
  const std::array<std::int64_t, 1> contiguous = {1};
  const std::array<std::int64_t, 1> repeated = {0};
  multiply(pool, shape, {x, contiguous}, {&factor, repeated}, y);
}

void fill(ThreadPool& pool, std::int64_t n, float value, float* y) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    std::fill(y + begin, y + end, value);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
