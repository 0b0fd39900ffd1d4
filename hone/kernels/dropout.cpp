#include "hone/kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Wide = hn::ScalableTag<std::uint64_t>;
using WideVec = hn::Vec<Wide>;
using Words = hn::Repartition<std::uint32_t, Wide>;

constexpr std::int64_t kBlocks = static_cast<std::int64_t>(hn::MaxLanes(Wide()));
constexpr std::int64_t kBlockWords = 4;

// The low halves of a and b multiplied to 64 bits.
HWY_INLINE WideVec multiply_low(Wide d, WideVec a, std::uint32_t b) {
  const Words words;
  return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, hn::Set(d, b)));
}

// Words of the blocks first, first + 1, ... first + kBlocks - 1 of the stream, in the order of `RandomStream::word`.
// Philox4x32-10 with one block per 64-bit lane; the high halves of c0 to c3 hold what the next multiplication ignores.
HWY_INLINE void philox_words(const RandomStream& stream, std::uint64_t first, std::uint32_t* to) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
  const Wide d;
  const WideVec block = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
  WideVec c0 = block;
  WideVec c1 = hn::ShiftRight<32>(block);
  WideVec c2 = hn::Set(d, stream.stream);
  WideVec c3 = hn::Set(d, stream.stream >> 32);
  auto key0 = static_cast<std::uint32_t>(stream.seed);
  auto key1 = static_cast<std::uint32_t>(stream.seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const WideVec product0 = multiply_low(d, c0, kMultiplier0);
    const WideVec product1 = multiply_low(d, c2, kMultiplier1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), hn::Set(d, key0));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), hn::Set(d, key1));
    c1 = product1;
    c3 = product0;
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  // Pairs of words as 64-bit lanes, low word first; then pairs interleaved to blocks.
  const WideVec low = hn::Set(d, 0xffffffffu);
  const WideVec first_pair = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
  const WideVec second_pair = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
  hn::StoreInterleaved2(first_pair, second_pair, d, reinterpret_cast<std::uint64_t*>(to));
}

// y[i] = stream.word(begin + i) >= threshold ? scale x[i] : 0;  `begin` is a multiple of kBlockWords.
void dropout_range(const RandomStream& stream, std::uint32_t threshold, float scale,
                   std::int64_t begin, std::int64_t n, const float* x, float* y) {
  constexpr std::int64_t kWords = kBlocks * kBlockWords;
  HWY_ALIGN std::uint32_t words[kWords];
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const auto least = hn::Set(du, threshold);
  for (std::int64_t i = 0; i < n; i += kWords) {
    philox_words(stream, static_cast<std::uint64_t>((begin + i) / kBlockWords), words);
    for_vectors(d, std::min(kWords, n - i), [&](std::int64_t j, auto part) HWY_ATTR {
      const auto word = hn::Load(du, words + j);
      const auto keep = hn::Eq(hn::Max(word, least), word);
      const auto scaled = hn::Mul(load(d, x + i + j, part), hn::Set(d, scale));
      store(hn::IfThenElseZero(hn::RebindMask(d, keep), scaled), d, y + i + j, part);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(dropout_range);

}  // namespace

std::uint32_t dropout_threshold(double probability) {
  HONE_ASSERT(probability >= 0.0 && probability < 1.0, "dropout probability {}", probability);
  return static_cast<std::uint32_t>(std::min(std::round(probability * 0x1p32), 0x1p32 - 1.0));
}

void dropout(ThreadPool& pool, double probability, const RandomStream& stream, std::int64_t n,
             const float* x, float* y) {
  const std::uint32_t threshold = dropout_threshold(probability);
  const auto scale = static_cast<float>(1.0 / (1.0 - probability));
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_range)
    (stream, threshold, scale, begin, end - begin, x + begin, y + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
