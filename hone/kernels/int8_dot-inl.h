// Sums of four products of a byte by a signed byte, in vectors of 32-bit sums, compiled once per
// Highway target. Each policy says how it holds the weights of `kLanes` rows, W (kLanes x 4 bytes),
// and the four activations they are multiplied with, `Left`, of which its rows of activations
// consist:
//
//     sum[r] += w[4 r] a[0] + w[4 r + 1] a[1] + w[4 r + 2] a[2] + w[4 r + 3] a[3]
//
// All sums are exact, whatever the bytes, as long as the total fits: nothing saturates on the way.
#if defined(HONE_KERNELS_INT8_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_INT8_DOT_INL_H_
#undef HONE_KERNELS_INT8_DOT_INL_H_
#else
#define HONE_KERNELS_INT8_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "hone/base/cpu.h"

// Whether this target has processors with an instruction for sums of four products, and what they
// are compiled with.
#undef HONE_QUAD_TARGET
#if HWY_TARGET == HWY_AVX3
#define HONE_QUAD_TARGET HWY_TARGET_STR ",avx512vnni"
#elif HWY_TARGET == HWY_AVX2
#define HONE_QUAD_TARGET HWY_TARGET_STR ",avxvnni"
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Whether this processor is one of those.
inline bool processor_has_quads() {
#if HWY_TARGET == HWY_AVX3
  return instruction_sets().avx512_vnni;
#elif HWY_TARGET == HWY_AVX2
  return instruction_sets().avx_vnni;
#else
  return false;
#endif
}

// Bytes and signed bytes widened to 16 bits: products of pairs are at most 2 · 255 · 128 and are
// added up in 32 bits.
struct WideningDot {
  using Sums = hn::ScalableTag<std::int32_t>;
  using Pairs = hn::Repartition<std::int16_t, Sums>;
  using Sum = hn::Vec<Sums>;
  struct Right {
    hn::Vec<Pairs> even, odd;  // bytes 0 and 2, bytes 1 and 3
  };
  struct Left {
    std::int16_t even[2], odd[2];
  };

  static HWY_INLINE Right right(hn::Vec<hn::Repartition<std::uint8_t, Sums>> bytes) {
    const hn::Repartition<std::uint16_t, Sums> halves;
    const auto pairs = hn::BitCast(halves, bytes);
    return {hn::BitCast(Pairs(), hn::And(pairs, hn::Set(halves, std::uint16_t{0xff}))),
            hn::BitCast(Pairs(), hn::ShiftRight<8>(pairs))};
  }
  static HWY_INLINE Sum dot(const Right& right, const Left& left, Sum sum) {
    Sum unused = hn::Zero(Sums());
    sum = hn::ReorderWidenMulAccumulate(Sums(), right.even, broadcast(left.even), sum, unused);
    sum = hn::ReorderWidenMulAccumulate(Sums(), right.odd, broadcast(left.odd), sum, unused);
    // gcc would add up the products of many quads before it adds them to the sum, and keep all of
    // them in memory meanwhile
    asm("" : "+v"(sum.raw));
    return sum;
  }
  // Weights of which the compiler knows no more that they are the same.
  static HWY_INLINE void renew(Right& right) {
    asm("" : "+v"(right.even.raw), "+v"(right.odd.raw));
  }
  // `quads`, of which 4 make a whole number.
  static HWY_INLINE void prepare(std::int64_t quads, const std::int8_t* codes, Left* to) {
    const hn::Full128<std::int16_t> halves;
    const hn::Full128<std::int32_t> words;
    auto* const pairs = reinterpret_cast<std::int32_t*>(to);
    for (std::int64_t q = 0; q < quads; q += 4) {
      const auto both = hn::BitCast(halves, hn::LoadU(hn::Full128<std::int8_t>(), codes + 4 * q));
      const auto even = hn::BitCast(words, hn::ShiftRight<8>(hn::ShiftLeft<8>(both)));
      const auto odd = hn::BitCast(words, hn::ShiftRight<8>(both));
      hn::StoreU(hn::InterleaveLower(even, odd), words, pairs + 2 * q);
      hn::StoreU(hn::InterleaveUpper(words, even, odd), words, pairs + 2 * q + 4);
    }
  }

 private:
  static HWY_INLINE hn::Vec<Pairs> broadcast(const std::int16_t (&pair)[2]) {
    std::int32_t both;
    std::memcpy(&both, pair, sizeof(both));
    return hn::BitCast(Pairs(), hn::Set(Sums(), both));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#ifdef HONE_QUAD_TARGET
HWY_PUSH_ATTRIBUTES(HONE_QUAD_TARGET)
namespace hone::kernels {
namespace HWY_NAMESPACE {

// AVX-512 VNNI and AVX-VNNI: the four products in one step, which wraps around rather than
// saturates.
struct QuadDot {
  using Sums = hn::ScalableTag<std::int32_t>;
  using Sum = hn::Vec<Sums>;
  using Right = hn::Vec<hn::Repartition<std::uint8_t, Sums>>;
  struct Left {
    std::int8_t codes[4];
  };

  static HWY_INLINE Right right(Right bytes) { return bytes; }
  static HWY_INLINE void renew(Right& right) { asm("" : "+v"(right.raw)); }
  static HWY_INLINE Sum dot(const Right& right, const Left& left, Sum sum) {
    std::int32_t four;
    std::memcpy(&four, left.codes, sizeof(four));
#if HWY_TARGET == HWY_AVX3
    return Sum{_mm512_dpbusd_epi32(sum.raw, right.raw, _mm512_set1_epi32(four))};
#else
    return Sum{_mm256_dpbusd_avx_epi32(sum.raw, right.raw, _mm256_set1_epi32(four))};
#endif
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_POP_ATTRIBUTES
#endif  // HONE_QUAD_TARGET

#endif  // per-target include guard
