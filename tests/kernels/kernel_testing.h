#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Helpers for the tests of all kernels.
namespace hone::kernels {

/// Sizes near the vector widths, and larger ones.
inline const std::vector<std::int64_t> kOddSizes = {1, 3, 7, 8, 15, 16, 17, 31, 33, 127, 1000};

/// Half a unit in the last place of 1: the relative error of one float operation.
inline constexpr double kRounding = 0x1p-24;

/// The instruction sets that kernels are compiled for: without fused multiply-adds, and with them.
inline constexpr std::int64_t kPlainTargets = HWY_SSE4;
inline constexpr std::int64_t kFusedTargets = HWY_AVX2 | HWY_AVX3 | (HWY_TARGETS & HWY_AVX3_DL);

/// Runs `body` once for each of these instruction sets that this CPU has.
template <typename Body>
void for_each_target(Body&& body, std::int64_t targets = kPlainTargets | kFusedTargets) {
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & targets & target) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

/// Returns `count` values, uniform in [low, high).
inline std::vector<float> random_floats(std::int64_t count, std::uint64_t stream, double low = -1.0,
                                        double high = 1.0) {
  RandomSequence random(11, stream);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(low + (high - low) * random.uniform());
  return values;
}

/// Returns whether two arrays have the same size and the same bits.
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Returns the result of `compute(pool)` with one thread, after checking that three threads give the same bits.
template <typename Compute>
auto same_for_any_threads(Compute&& compute) {
  ThreadPool one(1);
  ThreadPool three(3);
  const auto expected = compute(one);
  EXPECT_TRUE(same_bits(expected, compute(three))) << "one and three threads differ";
  return expected;
}

/// Like `same_for_any_threads`, and checks that all instruction sets give the same bits.
template <typename Compute>
auto same_for_any_target(Compute&& compute, std::int64_t targets = kPlainTargets | kFusedTargets) {
  decltype(same_for_any_threads(compute)) first;
  for_each_target(
      [&] {
        const auto got = same_for_any_threads(compute);
        if (first.empty()) first = got;
        EXPECT_TRUE(same_bits(first, got)) << "instruction sets differ";
      },
      targets);
  return first;
}

using Shape = std::vector<std::int64_t>;

inline std::int64_t elements_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

inline const float kInfinity = std::numeric_limits<float>::infinity();
inline const float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace hone::kernels
