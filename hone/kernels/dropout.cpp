#include "hone/kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/loop_nest.h"

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

// Returns the 64-bit products of the low halves of a and b.
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

// For each lane its index, and which of kBlocks consecutive blocks it computes: even lanes the first half of the
// blocks, odd lanes the second. Interleaving the lower and the upper lanes of every 128 bits then puts the blocks in
// order.
struct LaneTable {
  HWY_ALIGN std::uint64_t number[kBlocks];
  HWY_ALIGN std::uint64_t block[kBlocks];
};

constexpr LaneTable lane_table() {
  LaneTable table{};
  for (std::int64_t lane = 0; lane < kBlocks; ++lane) {
    table.number[lane] = static_cast<std::uint64_t>(lane);
    table.block[lane] = static_cast<std::uint64_t>(lane / 2 + lane % 2 * kBlocks / 2);
  }
  return table;
}

constexpr LaneTable kLaneTable = lane_table();

// Computes the words of the blocks with these numbers, lanes in the order of kLaneTable.block. One block per 64-bit
// lane; the next multiplication ignores the high halves of c0 to c3.
HWY_INLINE void philox_words(const RoundKeys& keys, std::uint64_t stream, WideVec block,
                             std::uint32_t* to) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
  const Wide d;
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
  // Pairs of words as 64-bit lanes, low word first; then both pairs of a block together.
  const WideVec low = hn::Set(d, 0xffffffffu);
  const WideVec first_pair = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
  const WideVec second_pair = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
  const Words words;
  hn::Store(hn::BitCast(words, hn::InterleaveLower(d, first_pair, second_pair)), words, to);
  hn::Store(hn::BitCast(words, hn::InterleaveUpper(d, first_pair, second_pair)), words,
            to + 2 * kBlocks);
}

// Applies dropout from x to y, in runs of neighbours that draw neighbouring words. A run is processed in whole vectors
// of blocks. The remainders of many runs are collected, so that short runs fill the lanes, too.
class Dropper {
 public:
  HWY_INLINE Dropper(const RandomStream& stream, std::uint32_t threshold, float scale,
                     const float* x, float* y)
      : keys_(stream.seed),
        stream_(stream.stream),
        threshold_(threshold),
        scale_(scale),
        x_(x),
        y_(y) {}

  // Processes elements [element, element + count), which draw words from `word` on.
  void run(std::int64_t element, std::int64_t count, std::int64_t word) {
    const Wide d;
    HWY_ALIGN std::uint32_t words[kWords];
    for (; word % kBlockWords == 0 && count >= kWords; element += kWords, word += kWords) {
      const auto first = hn::Set(d, static_cast<std::uint64_t>(word / kBlockWords));
      philox_words(keys_, stream_, hn::Add(first, hn::Load(d, kLaneTable.block)), words);
      drop(words, element, kWords);
      count -= kWords;
    }
    while (count > 0) {
      const std::int64_t taken = keep_for_later(element, count, word);
      element += taken;
      word += taken;
      count -= taken;
    }
  }

  // Processes the collected remainders.
  void finish() {
    const Wide d;
    const auto order = hn::SetTableIndices(d, kLaneTable.block);
    for (std::int64_t block = 0; block < blocks_; block += kBlocks) {
      const auto numbers = hn::TableLookupLanes(hn::Load(d, numbers_ + block), order);
      philox_words(keys_, stream_, numbers, words_ + block * kBlockWords);
    }
    for (std::int64_t i = 0; i < pieces_; ++i)
      drop(words_ + piece_[i].word, piece_[i].element, piece_[i].count);
    blocks_ = 0;
    pieces_ = 0;
  }

 private:
  static constexpr std::int64_t kWords = kBlocks * kBlockWords;
  static constexpr std::int64_t kBlocksTogether = 64;  // a multiple of kBlocks

  struct Piece {
    std::int64_t element;
    std::int64_t count;
    std::int64_t word;  // in words_
  };

  // Sets y = x scale, or 0, for `count` elements and as many words.
  HWY_INLINE void drop(const std::uint32_t* words, std::int64_t element, std::int64_t count) {
    const Floats d;
    const hn::RebindToUnsigned<Floats> du;
    const auto least = hn::Set(du, threshold_);
    const auto scale = hn::Set(d, scale_);
    const float* const from = x_ + element;
    float* const to = y_ + element;
    for_vectors(d, count, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto word = hn::LoadU(du, words + i);
      const auto keep = hn::Eq(hn::Max(word, least), word);
      const auto scaled = hn::Mul(load(d, from + i, part), scale);
      store(hn::IfThenElseZero(hn::RebindMask(d, keep), scaled), d, to + i, part);
    });
  }

  // Collects as many elements as there is room for, and returns how many.
  HWY_INLINE std::int64_t keep_for_later(std::int64_t element, std::int64_t count,
                                         std::int64_t word) {
    const std::int64_t skipped = word % kBlockWords;
    const std::int64_t room = (kBlocksTogether - blocks_) * kBlockWords - skipped;
    const std::int64_t taken = std::min(count, room);
    piece_[pieces_++] = {element, taken, blocks_ * kBlockWords + skipped};
    number_blocks((skipped + taken + kBlockWords - 1) / kBlockWords, word / kBlockWords);
    if (blocks_ == kBlocksTogether) finish();
    return taken;
  }

  // Adds `count` blocks from number `first` on, writing whole vectors; the excess is overwritten later.
  HWY_INLINE void number_blocks(std::int64_t count, std::int64_t first) {
    const Wide d;
    const auto lanes = hn::Load(d, kLaneTable.number);
    for (std::int64_t i = 0; i < count; i += kBlocks) {
      const auto begin = hn::Set(d, static_cast<std::uint64_t>(first + i));
      hn::StoreU(hn::Add(begin, lanes), d, numbers_ + blocks_ + i);
    }
    blocks_ += count;
  }

  RoundKeys keys_;
  std::uint64_t stream_;
  std::uint32_t threshold_;
  float scale_;
  const float* x_;
  float* y_;
  std::int64_t blocks_ = 0;
  std::int64_t pieces_ = 0;
  Piece piece_[kBlocksTogether];
  // With room for one more vector, since whole vectors are written.
  HWY_ALIGN std::uint64_t numbers_[kBlocksTogether + kBlocks] = {};
  HWY_ALIGN std::uint32_t words_[kBlocksTogether * kBlockWords + hn::MaxLanes(Floats())] = {};
};

// Processes elements [begin, end) of the nest, whose strides are those of words.
void dropout_range(const RandomStream& stream, std::uint32_t threshold, float scale,
                   const LoopNest<1>& nest, std::int64_t begin, std::int64_t end, const float* x,
                   float* y) {
  Dropper dropper(stream, threshold, scale, x, y);
  const std::int64_t stride = nest.inner_stride(0);
  nest.for_runs(begin, end, [&](std::int64_t element, std::int64_t count, const auto& words) {
    if (stride == 1) return dropper.run(element, count, words[0]);
    for (std::int64_t i = 0; i < count; ++i) dropper.run(element + i, 1, words[0] + i * stride);
  });
  dropper.finish();
}

void drop_rows(const RandomStream& stream, std::uint32_t threshold, float scale,
               std::span<const std::int64_t> first_words, std::int64_t columns, const float* x,
               float* y) {
  Dropper dropper(stream, threshold, scale, x, y);
  std::int64_t element = 0;
  for (const std::int64_t word : first_words) {
    dropper.run(element, columns, word);
    element += columns;
  }
  dropper.finish();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(dropout_range);
HWY_EXPORT(drop_rows);

float scale_of(double probability) { return static_cast<float>(1.0 / (1.0 - probability)); }

}  // namespace

std::uint32_t dropout_threshold(double probability) {
  HONE_ASSERT(probability >= 0.0 && probability < 1.0, "dropout probability {}", probability);
  return static_cast<std::uint32_t>(std::min(std::round(probability * 0x1p32), 0x1p32 - 1.0));
}

void dropout(ThreadPool& pool, double probability, const RandomStream& stream,
             std::span<const std::int64_t> shape, std::span<const std::int64_t> word_strides,
             const float* x, float* y) {
  const LoopNest<1> nest(shape, {word_strides});
  const std::int64_t n = nest.elements();
  if (probability == 1) {
    std::fill_n(y, n, 0.0f);  // no word reaches the threshold 2^32
    return;
  }
  const std::uint32_t threshold = dropout_threshold(probability);
  const float scale = scale_of(probability);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_range)(stream, threshold, scale, nest, begin, end, x, y);
  });
}

void dropout_rows(double probability, const RandomStream& stream,
                  std::span<const std::int64_t> first_words, std::int64_t columns, const float* x,
                  float* y) {
  if (probability == 1) {
    std::fill_n(y, static_cast<std::int64_t>(first_words.size()) * columns, 0.0f);
    return;
  }
  HWY_DYNAMIC_DISPATCH(drop_rows)
  (stream, dropout_threshold(probability), scale_of(probability), first_words, columns, x, y);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
