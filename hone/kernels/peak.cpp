#include "hone/kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/own_process.h"
#include "hone/kernels/bf16_products.h"
#include "hone/kernels/sign_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/int8_dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

constexpr std::int64_t kChains = 12;  // more than latency times issue width of any current core

// Runs `rounds` multiply-adds on each of kChains vectors, which begin with `start` + i, `start` about 1, and change
// little. `start` must be unknown to the compiler and the sum is returned, so nothing is optimized away. Sets
// `operations` to the number of scalar multiplications and additions.
float run_multiply_adds(std::int64_t rounds, float start, double* operations) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V factor = hn::Set(d, 0.999999f);
  const V term = hn::Set(d, 1e-6f);
  V chain[kChains];
#pragma GCC unroll 12
  for (std::int64_t i = 0; i < kChains; ++i) chain[i] = hn::Set(d, start + static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::int64_t i = 0; i < kChains; ++i) chain[i] = hn::MulAdd(chain[i], factor, term);
  }
  V sum = hn::Zero(d);
#pragma GCC unroll 12
  for (std::int64_t i = 0; i < kChains; ++i) sum = hn::Add(sum, chain[i]);
  *operations = 2.0 * static_cast<double>(rounds * kChains) * static_cast<double>(hn::Lanes(d));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

namespace widening {
using Dot = WideningDot;
#include "hone/kernels/int8_peak-inl.h"
}  // namespace widening

#ifdef HONE_SHORT_TARGET
namespace short2 {
using Dot = ShortDot<2, false>;
#include "hone/kernels/int8_peak-inl.h"
}  // namespace short2
#endif

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#ifdef HONE_QUAD_TARGET
HWY_PUSH_ATTRIBUTES(HONE_QUAD_TARGET)
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace quad {
using Dot = QuadDot;
#include "hone/kernels/int8_peak-inl.h"
}  // namespace quad
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_POP_ATTRIBUTES
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

float run_widened_dots(std::int64_t rounds, float start, double* operations) {
  return widening::run_dots(rounds, start, operations);
}

// Returns null if the target has no instruction that multiplies bytes.
const char* byte_instruction() {
#ifdef HONE_QUAD_TARGET
  if (cpu_has_quads()) return "vpdpbusd";
#endif
#ifdef HONE_SHORT_TARGET
  return "vpmaddubsw";
#else
  return nullptr;
#endif
}

float run_byte_dots(std::int64_t rounds, float start, double* operations) {
#ifdef HONE_QUAD_TARGET
  if (cpu_has_quads()) return quad::run_dots(rounds, start, operations);
#endif
#ifdef HONE_SHORT_TARGET
  return short2::run_dots(rounds, start, operations);
#else
  return run_widened_dots(rounds, start, operations);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(run_multiply_adds);
HWY_EXPORT(run_widened_dots);
HWY_EXPORT(run_byte_dots);
HWY_EXPORT(byte_instruction);

// Sizes of the arrays for measurements of memory, and of the pieces of a thread. A single array that is read repeatedly
// has to be larger than the two arrays of a copy, or caches keep part of it.
constexpr std::int64_t kCopyBytes = std::int64_t{64} << 20, kReadBytes = std::int64_t{256} << 20;
constexpr std::int64_t kGrain = std::int64_t{1} << 18;

// Returns the shortest time of a call of `body` in seconds, over a quarter of a second: the system needs part of that
// to move woken threads to separate cores.
template <typename Body>
double best_seconds(Body&& body) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double best = 1e30;
  while (Clock::now() - begin < std::chrono::milliseconds(250)) {
    const auto start = Clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// Measures `run(rounds, start, &operations)`, in 10^9 operations per second.
template <typename Run>
double measure_gops(ThreadPool& pool, Run&& run) {
  constexpr std::int64_t kRounds = 20'000;
  constexpr std::int64_t kChunksPerThread = 32;
  const std::int64_t chunks = pool.threads() * kChunksPerThread;
  std::vector<double> operations(static_cast<std::size_t>(chunks));
  std::vector<float> results(operations.size());
  const volatile float start = 1.0f;
  const double seconds = best_seconds([&] {
    pool.run(chunks, [&](std::int64_t chunk) {
      const auto i = static_cast<std::size_t>(chunk);
      results[i] = run(kRounds, start, &operations[i]);
    });
  });
  return operations[0] * static_cast<double>(chunks) / seconds * 1e-9;
}

}  // namespace

double measure_fma_gflops(ThreadPool& pool) {
  return measure_gops(pool, HWY_DYNAMIC_DISPATCH(run_multiply_adds));
}

const char* int8_byte_instruction() { return HWY_DYNAMIC_DISPATCH(byte_instruction)(); }

double measure_int8_byte_gops(ThreadPool& pool) {
  return int8_byte_instruction() == nullptr
             ? 0
             : measure_gops(pool, HWY_DYNAMIC_DISPATCH(run_byte_dots));
}

double measure_int8_widened_gops(ThreadPool& pool) {
  return measure_gops(pool, HWY_DYNAMIC_DISPATCH(run_widened_dots));
}

double measure_int8_gops(ThreadPool& pool) {
  return std::max(measure_int8_byte_gops(pool), measure_int8_widened_gops(pool));
}

double measure_bf16_gflops(ThreadPool& pool) {
  return has_bf16_products() ? measure_gops(pool, run_bf16_products) : 0;
}

double measure_sign_gops(ThreadPool& pool) { return measure_gops(pool, run_sign_products); }

double measure_copy_gbps(ThreadPool& pool) {
  predict_memory(static_cast<double>(resident_bytes()) + 2.0 * kCopyBytes);
  std::vector<char> from(kCopyBytes, 1);
  std::vector<char> to(kCopyBytes);
  const double seconds = best_seconds([&] {
    parallel_ranges(pool, kCopyBytes, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
  });
  return 2.0 * static_cast<double>(kCopyBytes) / seconds * 1e-9;
}

double measure_read_gbps(ThreadPool& pool) {
  predict_memory(static_cast<double>(resident_bytes()) + double{kReadBytes});
  const std::vector<std::uint64_t> words(kReadBytes / sizeof(std::uint64_t), 1);
  std::vector<std::uint64_t> sums(kReadBytes / kGrain);
  const double seconds = best_seconds([&] {
    pool.run(static_cast<std::int64_t>(sums.size()), [&](std::int64_t chunk) {
      const auto count = static_cast<std::size_t>(kGrain) / sizeof(std::uint64_t);
      const std::uint64_t* const first = words.data() + static_cast<std::size_t>(chunk) * count;
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += first[i];
      sums[static_cast<std::size_t>(chunk)] = sum;
    });
  });
  HONE_ASSERT(sums.front() * sums.size() == words.size(), "a sum of ones is {}", sums.front());
  return static_cast<double>(kReadBytes) / seconds * 1e-9;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
