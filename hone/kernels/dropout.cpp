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

// The keys of the ten rounds of Philox4x32-10, one pair per round.
struct RoundKeys {
  static constexpr int kRounds = 10;
  std::uint64_t low[kRounds];
  std::uint64_t high[kRounds];

  explicit RoundKeys(std::uint64_t seed) {
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < kRounds; ++round, key0 += kWeyl0, key1 += kWeyl1) {
      low[round] = key0;
      high[round] = key1;
    }
  }
};

// The block of the stream, after the first, that each lane computes: even lanes the first half of
// the blocks, odd lanes the second, so that interleaving the lower and the upper lanes of every 128
// bits leaves blocks in order.
struct LaneBlocks {
  HWY_ALIGN std::uint64_t offsets[kBlocks];
};

constexpr LaneBlocks lane_blocks() {
  LaneBlocks result{};
  for (std::int64_t lane = 0; lane < kBlocks; ++lane) {
    result.offsets[lane] = static_cast<std::uint64_t>(lane / 2 + lane % 2 * kBlocks / 2);
  }
  return result;
}

constexpr LaneBlocks kLaneBlocks = lane_blocks();

// Words of kBlocks blocks from `first` on, in the order of `RandomStream::word`. One block per
// 64-bit lane; the high halves of c0 to c3 hold what the next multiplication ignores.
HWY_INLINE void philox_words(const RoundKeys& keys, std::uint64_t stream, std::uint64_t first,
                             std::uint32_t* to) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
  const Wide d;
  const WideVec block = hn::Add(hn::Set(d, first), hn::Load(d, kLaneBlocks.offsets));
  WideVec c0 = block;
  WideVec c1 = hn::ShiftRight<32>(block);
  WideVec c2 = hn::Set(d, stream);
  WideVec c3 = hn::Set(d, stream >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < RoundKeys::kRounds; ++round) {
    const WideVec product0 = multiply_low(d, c0, kMultiplier0);
    const WideVec product1 = multiply_low(d, c2, kMultiplier1);
    c0 = hn::Xor(hn::ShiftRight<32>(product1), hn::Xor(c1, hn::Set(d, keys.low[round])));
    c2 = hn::Xor(hn::ShiftRight<32>(product0), hn::Xor(c3, hn::Set(d, keys.high[round])));
    c1 = product1;
    c3 = product0;
  }
  // Pairs of words as 64-bit lanes, low word first; then both pairs of a block side by side.
  const WideVec low = hn::Set(d, 0xffffffffu);
  const WideVec first_pair = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
  const WideVec second_pair = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
  const Words words;
  hn::Store(hn::BitCast(words, hn::InterleaveLower(d, first_pair, second_pair)), words, to);
  hn::Store(hn::BitCast(words, hn::InterleaveUpper(d, first_pair, second_pair)), words,
            to + 2 * kBlocks);
}

// y[i] = stream.word(begin + i) >= threshold ? scale x[i] : 0;  `begin` is a multiple of
// kBlockWords.
void dropout_range(const RandomStream& stream, std::uint32_t threshold, float scale,
                   std::int64_t begin, std::int64_t n, const float* x, float* y) {
  constexpr std::int64_t kWords = kBlocks * kBlockWords;
  HWY_ALIGN std::uint32_t words[kWords];
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const auto least = hn::Set(du, threshold);
  const RoundKeys keys(stream.seed);
  for (std::int64_t i = 0; i < n; i += kWords) {
    philox_words(keys, stream.stream, static_cast<std::uint64_t>((begin + i) / kBlockWords), words);
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
  if (probability == 1) {
    std::fill_n(y, n, 0.0f);  // no word is at least 2^32
    return;
  }
  const std::uint32_t threshold = dropout_threshold(probability);
  const auto scale = static_cast<float>(1.0 / (1.0 - probability));
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_range)
    (stream, threshold, scale, begin, end - begin, x + begin, y + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
