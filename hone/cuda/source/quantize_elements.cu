// Rounds to the nearest values of a number format, for formats that round each value separately or with constants of
// its group: states, or computed by quantize_groups.cu. ROUND is the rule, a struct of hone/kernels/scalar, which the
// host uses, too. With DYNAMIC, the constants of the format int are the range of the group.
#include "hone/kernels/scalar/fixed_point.h"
#include "hone/kernels/scalar/logarithm.h"
#include "hone/kernels/scalar/mase.h"
#include "hone/kernels/scalar/minifloat.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scalar/sign.h"
#include "numbers.cuh"

using namespace hone;

// Constants of a group, with which `settled` completes a rule. `first` and `second` have one for each group, or are
// null.
struct Constants {
  const float* first;
  const float* second;
  std::int64_t group;
};

template <typename Rule>
Rule settled(const Rule& rule, const Constants&) {
  return rule;
}
scalar::Powers settled(const scalar::LogFields& rule, const Constants& of) {
  return (of.first == nullptr ? rule : rule.with_bias(*of.first)).values();
}
scalar::FixedPoint settled(const scalar::FixedPoint& rule, const Constants& of) {
  return of.first == nullptr ? rule : rule.with_fraction(*of.first);
}
scalar::ScaledGrid settled(const scalar::IntegerGrids& rule, const Constants& of) {
#ifdef DYNAMIC
  const float lowest = of.first[of.group];  // its magnitude is stored
  return rule.of(scalar::ValueRange{lowest == 0 ? 0.0f : -lowest, of.second[of.group]});
#else
  return rule.of(of.first[of.group], of.second == nullptr ? 0.0f : of.second[of.group]);
#endif
}
scalar::OldScaledRow settled(const scalar::OldScaledRows& rule, const Constants& of) {
  return rule.of(of.first[of.group]);
}
scalar::TwoValues settled(const scalar::TwoValues& rule, const Constants& of) {
  return of.first == nullptr ? rule : rule.scaled(of.first[of.group]);
}
scalar::ResidualSigns settled(const scalar::ResidualSigns& rule, const Constants& of) {
  scalar::ResidualSigns signs = rule;
  if (of.first != nullptr)
    for (int l = 0; l < scalar::ResidualSigns::kMaxLevels; ++l)
      if (l < signs.levels) signs.means[l] = of.first[l];
  return signs;
}
scalar::Ternary settled(const scalar::Ternary& rule, const Constants& of) {
  return {of.first[of.group], of.second[of.group], rule.old};
}

// Rounds groups of `columns` adjacent values, with `chunks` blocks of threads per group and 16 elements per thread.
extern "C" __global__ void __launch_bounds__(256)
    round_elements(scalar::ROUND rule, const float* first, const float* second,
                   std::int64_t columns, unsigned chunks, const float* x, float* y) {
  constexpr int kPacks = 4;
  using Four = Pack<float, 4>;
  const std::int64_t group = blockIdx.x / chunks;
  const auto round = settled(rule, {first, second, group});
  const std::int64_t begin = std::int64_t(blockIdx.x % chunks) * blockDim.x * (4 * kPacks);
  const std::int64_t left = columns - begin, most = std::int64_t(blockDim.x) * (4 * kPacks);
  const int count = int(left < most ? left : most);
  x += group * columns + begin;
  y += group * columns + begin;
  if ((reinterpret_cast<std::size_t>(x) | reinterpret_cast<std::size_t>(y)) % sizeof(Four) != 0) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) y[i] = round(x[i]);
    return;
  }
  Four packs[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int pack = k * blockDim.x + threadIdx.x;
    if (pack < count / 4) packs[k] = reinterpret_cast<const Four*>(x)[pack];
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int pack = k * blockDim.x + threadIdx.x;
    if (pack >= count / 4) continue;
#pragma unroll
    for (float& value : packs[k].at) value = round(value);
    reinterpret_cast<Four*>(y)[pack] = packs[k];
  }
  const int last = count / 4 * 4 + threadIdx.x;
  if (last < count) y[last] = round(x[last]);
}
