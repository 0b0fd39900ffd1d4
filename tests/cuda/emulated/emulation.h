#pragma once
// The parts of CUDA that the kernels' sources use, for the host's compiler. The threads of a block are fibers, which
// switch at barriers and at operations of a warp. So tests check all addresses and results, but do not find races.
// toolkit.cpp includes this before each source.
#include <ucontext.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __CUDACC_RTC__ 1
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __shared__ static

struct EmulatedExtent {
  unsigned x = 1, y = 1, z = 1;
};
static EmulatedExtent threadIdx, blockIdx, blockDim, gridDim;

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace emulated {

template <typename To, typename From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// ---- threads

constexpr std::size_t kStackBytes = 128 << 10, kLargestDynamic = 256 << 10;
alignas(1024) static unsigned char dynamic_memory[kLargestDynamic];

struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  bool done = false;
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static int current, thread_count;
static const std::function<void()>* kernel;

inline void give_way() {
  const int own = current;
  const EmulatedExtent place = threadIdx;
  swapcontext(&fibers[own].context, &scheduler);
  current = own;
  threadIdx = place;
}

// A barrier that does not wait for threads that have ended.
struct Barrier {
  int expected = 0, waiting = 0, round = 0;

  void release_if_all() {
    if (waiting == 0 || waiting < expected) return;
    waiting = 0;
    ++round;
  }
  void wait() {
    const int own = round;
    ++waiting;
    release_if_all();
    while (round == own) give_way();
  }
  void leave() {
    --expected;
    release_if_all();
  }
};
static Barrier block_barrier;
static std::vector<Barrier> warp_barriers;
static std::vector<std::vector<std::uint64_t>> warp_values;

inline int thread() {
  return int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
inline int warp() { return thread() / 32; }
inline int lane() { return thread() % 32; }

inline void begin_thread() {
  (*kernel)();
  fibers[current].done = true;
  block_barrier.leave();
  warp_barriers[warp()].leave();
  swapcontext(&fibers[current].context, &scheduler);
}

inline void run_block() {
  const int warps = (thread_count + 31) / 32;
  block_barrier = {thread_count};
  warp_barriers.clear();
  for (int i = 0; i < warps; ++i) warp_barriers.push_back({std::min(32, thread_count - 32 * i)});
  warp_values.assign(warps, std::vector<std::uint64_t>(32));
  if (fibers.size() < std::size_t(thread_count)) fibers.resize(thread_count);
  for (int i = 0; i < thread_count; ++i) {
    Fiber& fiber = fibers[i];
    fiber.done = false;
    fiber.stack.resize(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, begin_thread, 0);
  }
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (int i = 0; i < thread_count; ++i) {
      if (fibers[i].done) continue;
      all_done = false;
      current = i;
      threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
      swapcontext(&scheduler, &fibers[i].context);
    }
  }
}

inline void run(const EmulatedExtent& grid, const EmulatedExtent& block,
                const std::function<void()>& body) {
  gridDim = grid;
  blockDim = block;
  thread_count = int(block.x * block.y * block.z);
  kernel = &body;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        run_block();
      }
}

// Returns a launch of a kernel with copies of its arguments, which the driver copies, too.
template <typename... Arguments>
std::function<void()> start_of(void (*function)(Arguments...), void** arguments) {
  return [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    auto copies =
        std::make_tuple(*static_cast<std::remove_cv_t<std::remove_reference_t<Arguments>>*>(
            arguments[kIndices])...);
    return std::function<void()>([function, copies]() {
      std::apply([&](const auto&... each) { function(each...); }, copies);
    });
  }
  (std::index_sequence_for<Arguments...>());
}

// ---- operations of a warp

inline void meet() { warp_barriers[warp()].wait(); }

// Returns body(values of all lanes).
template <typename T, typename Body>
auto together(T value, Body&& body) {
  static_assert(sizeof(T) <= 8);
  const int own = warp();
  std::memcpy(&warp_values[own][lane()], &value, sizeof value);
  meet();
  T values[32];
  for (int i = 0; i < 32; ++i) std::memcpy(&values[i], &warp_values[own][i], sizeof(T));
  const auto result = body(values);
  meet();
  return result;
}
template <typename T, typename Combine>
T reduced(T value, Combine&& combine) {
  return together(value, [&](const T(&values)[32]) {
    T result = values[0];
    for (int i = 1; i < 32; ++i) result = combine(result, values[i]);
    return result;
  });
}
template <typename T>
T lane_value(T value, int from) {
  return together(value, [&](const T(&values)[32]) { return values[from]; });
}

// ---- 16-bit values

inline float of_half(std::uint16_t bits) { return float(bits_as<_Float16>(bits)); }
inline std::uint16_t to_half(float x) { return bits_as<std::uint16_t>(_Float16(x)); }
inline float of_bfloat(std::uint32_t bits) { return bits_as<float>(bits << 16); }
inline std::uint16_t to_bfloat(float x) {
  const auto bits = bits_as<std::uint32_t>(x);
  if (x != x) return 0x7fff;
  return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float of_value(std::uint32_t bits, bool bfloat) {
  return bfloat ? of_bfloat(bits & 0xffff) : of_half(std::uint16_t(bits));
}
inline std::uint32_t pair(float low, float high, bool bfloat) {
  const std::uint32_t a = bfloat ? to_bfloat(low) : to_half(low),
                      b = bfloat ? to_bfloat(high) : to_half(high);
  return a | b << 16;
}
inline std::uint32_t fused_bfloats(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto one = [&](int shift) {
    const double product =
        double(of_bfloat(a >> shift & 0xffff)) * double(of_bfloat(b >> shift & 0xffff));
    return float(product + double(of_bfloat(c >> shift & 0xffff)));
  };
  return pair(one(0), one(16), true);
}

// Rounds to nearest, ties away from zero, like cvt.rna.tf32.f32.
inline std::uint32_t to_tf32(float x) { return (bits_as<std::uint32_t>(x) + 0x1000) & 0xffffe000; }

// sums (16 x 8) += a (16 x depth) b (depth x 8) with the fragments of mma.sync: m16n8k16 of bfloat16 ('b') or float16
// ('f'), m16n8k8 of TF32 ('t').
inline void multiply(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                     std::uint32_t b1, char type) {
  struct Fragments {
    std::uint32_t a[4], b[2];
  };
  static std::vector<std::vector<Fragments>> of_warps;
  if (of_warps.size() < warp_barriers.size())
    of_warps.resize(warp_barriers.size(), std::vector<Fragments>(32));
  std::vector<Fragments>& all = of_warps[warp()];
  all[lane()] = {{a[0], a[1], a[2], a[3]}, {b0, b1}};
  meet();
  const int per_word = type == 't' ? 1 : 2;
  const auto number = [&](std::uint32_t word, int at) {
    return type == 't' ? bits_as<float>(word & 0xffffe000)
                       : of_value(word >> (16 * at), type == 'b');
  };
  for (int i = 0; i < 4; ++i) {
    const int row = lane() / 4 + i / 2 * 8, column = lane() % 4 * 2 + i % 2;
    double sum = sums[i];
    for (int k = 0; k < 8 * per_word; ++k) {
      const int word = k / per_word, part = word / 4, at = k % per_word;
      const Fragments &of_a = all[row % 8 * 4 + word % 4], &of_b = all[column * 4 + word % 4];
      sum += double(number(of_a.a[part * 2 + row / 8], at)) * double(number(of_b.b[part], at));
    }
    sums[i] = float(sum);
  }
  meet();
}

// d (16 x 8) = a (16 x 32) b (32 x 8) + c of bytes, with the fragments of mma.sync.m16n8k32; a2, a3 and b1 are zeros
// for k16.
inline void multiply_bytes(std::int32_t (&d)[4], std::uint32_t a0, std::uint32_t a1,
                           std::uint32_t a2, std::uint32_t a3, std::uint32_t b0, std::uint32_t b1,
                           const std::int32_t (&c)[4]) {
  struct Fragments {
    std::uint32_t a[4], b[2];
  };
  static std::vector<std::vector<Fragments>> of_warps;
  if (of_warps.size() < warp_barriers.size())
    of_warps.resize(warp_barriers.size(), std::vector<Fragments>(32));
  std::vector<Fragments>& all = of_warps[warp()];
  all[lane()] = {{a0, a1, a2, a3}, {b0, b1}};
  meet();
  const auto byte = [](std::uint32_t word, int at) {
    return std::int32_t(std::int8_t(word >> (8 * at) & 255));
  };
  std::int32_t sums[4];
  for (int i = 0; i < 4; ++i) {
    const int row = lane() / 4 + i / 2 * 8, column = lane() % 4 * 2 + i % 2;
    std::uint32_t sum = std::uint32_t(c[i]);
    for (int k = 0; k < 32; ++k) {
      const int part = k / 16;
      const Fragments &of_a = all[row % 8 * 4 + k % 16 / 4], &of_b = all[column * 4 + k % 16 / 4];
      sum += std::uint32_t(byte(of_a.a[part * 2 + row / 8], k % 4) * byte(of_b.b[part], k % 4));
    }
    sums[i] = std::int32_t(sum);
  }
  meet();
  std::copy(sums, sums + 4, d);
}

// ---- shared memory by address

inline std::uint32_t shared_place(const void* at) {
  return std::uint32_t(std::int32_t(static_cast<const unsigned char*>(at) - dynamic_memory));
}
inline unsigned char* shared_at(std::uint32_t place) {
  return dynamic_memory + std::int32_t(place);
}
inline void copy_bytes(std::uint32_t to, const void* from, std::size_t count, bool is_there) {
  if (is_there)
    std::memcpy(shared_at(to), from, count);
  else
    std::memset(shared_at(to), 0, count);
}
inline void load_matrices(std::uint32_t (&x)[4], std::uint32_t address, bool turned) {
  struct Words {
    std::uint32_t of[4];
  };
  const int row = lane() / 4, column = lane() % 4 * 2;
  const Words words = together(address, [&](const std::uint32_t(&rows)[32]) {
    Words read;
    for (int i = 0; i < 4; ++i) {
      const auto at = [&](int r, int c) {
        std::uint16_t bits;
        std::memcpy(&bits, shared_at(rows[8 * i + r]) + 2 * c, 2);
        return std::uint32_t(bits);
      };
      read.of[i] = turned ? at(column, row) | at(column + 1, row) << 16
                          : at(row, column) | at(row, column + 1) << 16;
    }
    return read;
  });
  std::copy(words.of, words.of + 4, x);
}

}  // namespace emulated

// ---- functions of CUDA

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

inline float __uint_as_float(unsigned x) { return emulated::bits_as<float>(x); }
inline unsigned __float_as_uint(float x) { return emulated::bits_as<unsigned>(x); }
inline float __int_as_float(int x) { return emulated::bits_as<float>(x); }
inline int __float_as_int(float x) { return emulated::bits_as<int>(x); }
inline std::size_t __cvta_generic_to_shared(const void* at) { return emulated::shared_place(at); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(std::uint64_t(a) * b >> 32); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned select) {
  const std::uint64_t bytes = std::uint64_t(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = unsigned(bytes >> (8 * (select >> (4 * i) & 7)) & 255);
    const bool sign = (select >> (4 * i) & 8) != 0;
    result |= (sign ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return result;
}
inline double __longlong_as_double(long long x) { return emulated::bits_as<double>(x); }
inline long long __double_as_longlong(double x) { return emulated::bits_as<long long>(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
template <typename T>
T __ldg(const T* from) {
  return *from;
}
template <typename T>
T __ldcg(const T* from) {
  return *from;
}
template <typename T>
T __ldcs(const T* from) {
  return *from;
}
template <typename T>
void __stcs(T* to, const T& value) {
  *to = value;
}
template <typename A, typename B>
std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) < T(b) ? T(b) : T(a);
}
template <typename A, typename B>
std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(b) < T(a) ? T(b) : T(a);
}

inline void __threadfence() {}
inline void __syncthreads() { emulated::block_barrier.wait(); }
inline int __syncthreads_or(int value) {
  static int any;
  __syncthreads();
  any = 0;
  __syncthreads();
  any |= value != 0;
  __syncthreads();
  return any;
}
inline void __syncwarp(unsigned = 0) { emulated::meet(); }
template <typename T>
T __shfl_sync(unsigned, T value, int from, int width = 32) {
  return emulated::lane_value(value, emulated::lane() / width * width + from % width);
}
template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask, int = 32) {
  return emulated::lane_value(value, emulated::lane() ^ mask);
}
template <typename T>
T __shfl_down_sync(unsigned, T value, int by, int = 32) {
  const int from = emulated::lane() + by;
  return emulated::lane_value(value, from < 32 ? from : emulated::lane());
}
template <typename T>
T __shfl_up_sync(unsigned, T value, int by, int = 32) {
  const int from = emulated::lane() - by;
  return emulated::lane_value(value, from >= 0 ? from : emulated::lane());
}
template <typename T>
T __reduce_add_sync(unsigned, T value) {
  return emulated::reduced(value, [](T a, T b) { return T(a + b); });
}
template <typename T>
T __reduce_max_sync(unsigned, T value) {
  return emulated::reduced(value, [](T a, T b) { return a < b ? b : a; });
}
inline int __all_sync(unsigned, bool value) {
  return emulated::reduced(int(value), [](int a, int b) { return int(a && b); });
}
inline unsigned __ballot_sync(unsigned, bool value) {
  return emulated::reduced(unsigned(value) << emulated::lane(),
                           [](unsigned a, unsigned b) { return a | b; });
}
template <typename T>
T atomicMax(T* at, T value) {
  const T before = *at;
  if (before < value) *at = value;
  return before;
}
template <typename T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <typename T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at = before | value;
  return before;
}
template <typename T>
T atomicExch(T* at, T value) {
  const T before = *at;
  *at = value;
  return before;
}
