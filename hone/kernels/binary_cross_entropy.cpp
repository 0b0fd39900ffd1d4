#include "hone/kernels/binary_cross_entropy.h"

#include "hone/kernels/grain.h"
#include "hone/kernels/row_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/binary_cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"
// Must follow vector_loop-inl.h, whose names it uses.
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Returns the sum of max(x, 0) - x y + log(1 + e^-|x|).
double sum_of_losses(std::int64_t n, const float* logits, const float* targets) {
  const HalfFloats d;
  return sum_in_doubles(n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto x = load(d, logits + i, part), y = load(d, targets + i, part);
    const auto rest = log1p_of_unit(d, exp_of_nonpositive(d, hn::Neg(hn::Abs(x))));
    // Max returns its second operand for NaN.
    return hn::Add(hn::NegMulAdd(x, y, hn::Max(hn::Zero(d), x)), rest);
  });
}

// Computes to = (sigmoid(x) - y) factor. With e = exp(-|x|), which cannot overflow, sigmoid(x) is e / (1 + e) for
// negative x, else 1 / (1 + e).
void scaled_errors_of_sigmoid(std::int64_t n, const float* logits, const float* targets,
                              float factor, float* to) {
  const Floats d;
  const auto one = hn::Set(d, 1.0f);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto x = load(d, logits + i, part);
    const auto e = exp_of_nonpositive(d, hn::Neg(hn::Abs(x)));
    const auto above = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    const auto sigmoid = hn::Div(above, hn::Add(one, e));
    store(hn::Mul(hn::Sub(sigmoid, load(d, targets + i, part)), hn::Set(d, factor)), d, to + i,
          part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(sum_of_losses);
HWY_EXPORT(scaled_errors_of_sigmoid);

}  // namespace

float binary_cross_entropy(ThreadPool& pool, std::int64_t n, const float* logits,
                           const float* targets) {
  const double sum = of_pieces<double>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(sum_of_losses)(end - begin, logits + begin, targets + begin);
      },
      [](double& all, double next) { all += next; });
  return static_cast<float>(sum / static_cast<double>(n));
}

void binary_cross_entropy_gradient(ThreadPool& pool, std::int64_t n, const float* logits,
                                   const float* targets, float dloss, float* dlogits) {
  const auto factor = static_cast<float>(double{dloss} / static_cast<double>(n));
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(scaled_errors_of_sigmoid)
    (end - begin, logits + begin, targets + begin, factor, dlogits + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
