// Sums of four products of a byte by a signed byte, in vectors of 32-bit sums, compiled once per Highway target. Each
// policy defines how it stores the weights of `kLanes` rows, W (kLanes x 4 bytes), and `Left`, the four activations
// they are multiplied with:
//
//     sum[r] += w[4 r] a[0] + w[4 r + 1] a[1] + w[4 r + 2] a[2] + w[4 r + 3] a[3]
//
// A policy either adds every quadruple to the sums in `kParts` steps (`dot`), or with `kJoins` first adds `kTogether`
// quadruples in 16 bits (`multiply`, `join`, `fold`). All sums are exact if the total fits; policies with 16-bit sums
// document for which activations it does.
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
#include "hone/kernels/int8_residues.h"

// Defined if CPUs of this target may have an instruction for sums of four products: the target to compile them with.
#undef HONE_QUAD_TARGET
#if HWY_TARGET == HWY_AVX3
#define HONE_QUAD_TARGET HWY_TARGET_STR ",avx512vnni"
#elif HWY_TARGET == HWY_AVX2
#define HONE_QUAD_TARGET HWY_TARGET_STR ",avxvnni"
#endif

// Defined if the target has an instruction for sums of two products of bytes in 16 bits.
#undef HONE_SHORT_TARGET
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#define HONE_SHORT_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Returns whether this CPU has the instruction for sums of four products.
inline bool cpu_has_quads() {
#if HWY_TARGET == HWY_AVX3
  return instruction_sets().avx512_vnni;
#elif HWY_TARGET == HWY_AVX2
  return instruction_sets().avx_vnni;
#else
  return false;
#endif
}

HWY_INLINE std::int32_t word_of(const FourCodes& left) {
  std::int32_t word;
  std::memcpy(&word, left.codes, sizeof(word));
  return word;
}

// Bytes and signed bytes widened to 16 bits: sums of pairs of products are at most 2 · 255 · 128 and are added in 32
// bits.
struct WideningDot {
  using Sums = hn::ScalableTag<std::int32_t>;
  using Pairs = hn::Repartition<std::int16_t, Sums>;
  using Sum = hn::Vec<Sums>;
  using Bytes = hn::Vec<hn::Repartition<std::uint8_t, Sums>>;
  using Right = hn::Vec<Pairs>;
  static constexpr bool kJoins = false;
  static constexpr int kTogether = 1;
  static constexpr int kParts = 2;  // bytes 0 and 2, bytes 1 and 3
  static constexpr bool kHalfBytes = false;
  struct Left {
    std::int16_t pairs[kParts][2];
  };

  template <int kPart>
  static HWY_INLINE Right right(Bytes bytes) {
    const hn::Repartition<std::uint16_t, Sums> halves;
    const auto pairs = hn::BitCast(halves, bytes);
    if constexpr (kPart == 0)
      return hn::BitCast(Pairs(), hn::And(pairs, hn::Set(halves, std::uint16_t{0xff})));
    return hn::BitCast(Pairs(), hn::ShiftRight<8>(pairs));
  }
  template <int kPart>
  static HWY_INLINE Sum dot(Right right, const Left& left, Sum sum) {
    Sum unused = hn::Zero(Sums());
    sum = hn::ReorderWidenMulAccumulate(Sums(), right, broadcast(left.pairs[kPart]), sum, unused);
    // Otherwise gcc adds the products of many quads before it adds them to the sum, and keeps all of them in memory.
    asm("" : "+v"(sum.raw));
    return sum;
  }
  // `quads` is a multiple of 4.
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

#ifdef HONE_SHORT_TARGET

// Adds the pairs of products of kQuads quads in 16 bits before widening them: at most half the instructions of widening
// first. A 16-bit sum with bytes of up to 255 fits if its positive activations add up to at most 128 and its negative
// ones to at least -128 (`limit_rows` of int8_residues.h ensures that). With half bytes it fits for any activations.
template <int kQuads, bool kOfHalfBytes>
struct ShortDot {
  using Sums = hn::ScalableTag<std::int32_t>;
  using Sum = hn::Vec<Sums>;
  using Bytes = hn::Vec<hn::Repartition<std::uint8_t, Sums>>;
  using Right = Bytes;
  using Left = FourCodes;
  using Pairs = hn::Vec<hn::Repartition<std::int16_t, Sums>>;
  static constexpr bool kJoins = true;
  static constexpr int kTogether = kQuads;
  static constexpr int kParts = 1;
  static constexpr bool kHalfBytes = kOfHalfBytes;

  template <int kPart>
  static HWY_INLINE Right right(Bytes bytes) {
    return bytes;
  }
  static HWY_INLINE Pairs multiply(Right right, const Left& left) {
#if HWY_TARGET == HWY_AVX2
    Pairs pairs{_mm256_maddubs_epi16(right.raw, _mm256_set1_epi32(word_of(left)))};
#else
    Pairs pairs{_mm512_maddubs_epi16(right.raw, _mm512_set1_epi32(word_of(left)))};
#endif
    return pairs;
  }
  static HWY_INLINE Pairs join(Pairs sum, Pairs pairs) {
    sum = hn::Add(sum, pairs);
    // see WideningDot
    asm("" : "+v"(sum.raw));
    return sum;
  }
  static HWY_INLINE Sum fold(Pairs pairs, Sum sum) {
    const hn::Repartition<std::int16_t, Sums> d;
    Sum unused = hn::Zero(Sums());
    sum = hn::ReorderWidenMulAccumulate(Sums(), pairs, hn::Set(d, std::int16_t{1}), sum, unused);
    asm("" : "+v"(sum.raw));
    return sum;
  }
};

#endif  // HONE_SHORT_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#ifdef HONE_QUAD_TARGET
HWY_PUSH_ATTRIBUTES(HONE_QUAD_TARGET)
namespace hone::kernels {
namespace HWY_NAMESPACE {

// AVX-512 VNNI and AVX-VNNI: four products in one instruction, which wraps around instead of saturating.
struct QuadDot {
  using Sums = hn::ScalableTag<std::int32_t>;
  using Sum = hn::Vec<Sums>;
  using Bytes = hn::Vec<hn::Repartition<std::uint8_t, Sums>>;
  using Right = Bytes;
  using Left = FourCodes;
  static constexpr bool kJoins = false;
  static constexpr int kTogether = 1;
  static constexpr int kParts = 1;
  static constexpr bool kHalfBytes = false;

  template <int kPart>
  static HWY_INLINE Right right(Bytes bytes) {
    return bytes;
  }
  template <int kPart>
  static HWY_INLINE Sum dot(Right right, const Left& left, Sum sum) {
    const std::int32_t four = word_of(left);
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
