#include "hone/kernels/activation.h"

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using V = FloatVector;

template <class F>
HWY_INLINE void map(std::int64_t n, const float* x, float* y, F&& f) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(f(d, load(d, x + i, part)), d, y + i, part);
  });
}

template <class F>
HWY_INLINE void map_gradient(std::int64_t n, const float* x, const float* dy, float* dx,
                             F&& slope) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(hn::Mul(load(d, dy + i, part), slope(d, load(d, x + i, part))), d, dx + i, part);
  });
}

void gelu_erf_range(std::int64_t n, const float* x, float* y) {
  map(n, x, y, [](Floats d, V v) HWY_ATTR { return gelu_erf_of(d, v); });
}

void gelu_erf_gradient_range(std::int64_t n, const float* x, const float* dy, float* dx) {
  map_gradient(n, x, dy, dx, [](Floats d, V v) HWY_ATTR {
    const V density = exp_of_nonpositive(d, hn::Mul(hn::Set(d, -0.5f), hn::Mul(v, v)));
    // For large |v| the density is 0 and the slope is that of the distribution, even for infinite v.
    const V term = hn::Mul(hn::Mul(clamp_magnitude(d, v, 1e6f), density), hn::Set(d, 0.398942280f));
    return hn::Add(normal_distribution(d, v), term);
  });
}

void gelu_tanh_range(std::int64_t n, const float* x, float* y) {
  map(n, x, y, [](Floats d, V v) HWY_ATTR { return gelu_tanh_of(d, v); });
}

void gelu_tanh_gradient_range(std::int64_t n, const float* x, const float* dy, float* dx) {
  map_gradient(n, x, dy, dx, [](Floats d, V v) HWY_ATTR {
    const V half = hn::Set(d, 0.5f);
    const V t = tanh_of_gelu(d, v);
    // Beyond 10 the tanh is flat; the bound keeps the cubic from overflowing.
    const V c = clamp_magnitude(d, v, 10.0f);
    const V inner = hn::MulAdd(hn::Set(d, 0.797884561f * 3.0f * 0.044715f), hn::Mul(c, c),
                               hn::Set(d, 0.797884561f));
    const V flat = hn::NegMulAdd(t, t, hn::Set(d, 1.0f));
    return hn::MulAdd(hn::Mul(hn::Mul(half, c), flat), inner, hn::MulAdd(half, t, half));
  });
}

void tanh_range(std::int64_t n, const float* x, float* y) {
  map(n, x, y, [](Floats d, V v) HWY_ATTR { return tanh(d, v); });
}

void tanh_gradient_range(std::int64_t n, const float* y, const float* dy, float* dx) {
  map_gradient(n, y, dy, dx,
               [](Floats d, V v) HWY_ATTR { return hn::NegMulAdd(v, v, hn::Set(d, 1.0f)); });
}

void relu_range(std::int64_t n, const float* x, float* y) {
  map(n, x, y, [](Floats d, V v) HWY_ATTR { return relu_of(d, v); });
}

void relu_gradient_range(std::int64_t n, const float* x, const float* dy, float* dx) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto positive = hn::Gt(load(d, x + i, part), hn::Zero(d));
    store(hn::IfThenElseZero(positive, load(d, dy + i, part)), d, dx + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(gelu_erf_range);
HWY_EXPORT(gelu_erf_gradient_range);
HWY_EXPORT(gelu_tanh_range);
HWY_EXPORT(gelu_tanh_gradient_range);
HWY_EXPORT(tanh_range);
HWY_EXPORT(tanh_gradient_range);
HWY_EXPORT(relu_range);
HWY_EXPORT(relu_gradient_range);

using Range = void (*)(std::int64_t, const float*, float*);
using GradientRange = void (*)(std::int64_t, const float*, const float*, float*);

void run(ThreadPool& pool, std::int64_t n, const float* x, float* y, Range range) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(end - begin, x + begin, y + begin);
  });
}

void run(ThreadPool& pool, std::int64_t n, const float* x, const float* dy, float* dx,
         GradientRange range) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(end - begin, x + begin, dy + begin, dx + begin);
  });
}

}  // namespace

void gelu_erf(ThreadPool& pool, std::int64_t n, const float* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(gelu_erf_range));
}
void gelu_erf_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy,
                       float* dx) {
  run(pool, n, x, dy, dx, &HWY_DYNAMIC_DISPATCH(gelu_erf_gradient_range));
}
void gelu_tanh(ThreadPool& pool, std::int64_t n, const float* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(gelu_tanh_range));
}
void gelu_tanh_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy,
                        float* dx) {
  run(pool, n, x, dy, dx, &HWY_DYNAMIC_DISPATCH(gelu_tanh_gradient_range));
}
void tanh(ThreadPool& pool, std::int64_t n, const float* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(tanh_range));
}
void tanh_gradient(ThreadPool& pool, std::int64_t n, const float* y, const float* dy, float* dx) {
  run(pool, n, y, dy, dx, &HWY_DYNAMIC_DISPATCH(tanh_gradient_range));
}
void relu(ThreadPool& pool, std::int64_t n, const float* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(relu_range));
}
void relu_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy, float* dx) {
  run(pool, n, x, dy, dx, &HWY_DYNAMIC_DISPATCH(relu_gradient_range));
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
