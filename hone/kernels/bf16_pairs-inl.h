// Packs operands of products of bfloat16 pairs (bf16_products.h), and multiplies them on CPUs without such products.
// Compiled once per Highway target.
#if defined(HONE_KERNELS_BF16_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_BF16_PAIRS_INL_H_
#undef HONE_KERNELS_BF16_PAIRS_INL_H_
#else
#define HONE_KERNELS_BF16_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hone/kernels/bf16_products.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/half-inl.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Largest number of pairs packed from a line at a time.
inline constexpr std::int64_t kMaxPairs = 384;

/// An operand to be packed in lines, rows of A or columns of B: floats, each line contiguous, or bfloat16.
struct PairLines {
  const float* floats;
  const std::uint16_t* halves;
  std::int64_t line_stride, depth_stride;
  std::int64_t lines, depth;
};

// Panels of `width` lines: pair l of line i of a panel is at [l * width + i]. Missing lines and the last half of an odd
// depth are zero.
struct PairPanels {
  std::uint32_t* data;
  std::int64_t width;
  std::int64_t pairs;

  std::uint32_t* at(std::int64_t line, std::int64_t pair) const {
    return data + (line / width * pairs + pair) * width + line % width;
  }
  // Returns `count` whole vectors from `column` on. For panels of columns, which are kPairStride wide.
  PairVectors vectors(std::int64_t column, std::int64_t count) const {
    PairVectors all{{}, count};
    for (std::int64_t v = 0; v < count; ++v) all.data[v] = at(column + v * kPairColumns, 0);
    return all;
  }
  // Returns the number of words of the panels.
  static std::int64_t words(std::int64_t lines, std::int64_t width, std::int64_t pairs) {
    return round_up(lines, width) * pairs;
  }
};

constexpr std::int64_t pairs_of(std::int64_t values) { return ceil_div(values, 2); }

// Packs the pairs [begin, end) of up to kPairRows contiguous lines from `first` on.
inline void pack_runs(const PairLines& source, std::int64_t first, std::int64_t begin,
                      std::int64_t end, const PairPanels& panels) {
  HWY_ALIGN static thread_local std::uint32_t runs[kPairRows * kMaxPairs];
  const std::int64_t pairs = end - begin, values = std::min(2 * end, source.depth) - 2 * begin,
                     from = first * source.line_stride + 2 * begin;
  const std::int64_t count = std::min(kPairRows, source.lines - first);
  // Pairs are moved as floats. bfloat16 pairs that are aligned are moved from where they are stored.
  const float* lines = reinterpret_cast<const float*>(runs);
  std::int64_t stride = pairs;
  if (source.halves != nullptr && values == 2 * pairs && source.line_stride % 2 == 0) {
    lines = reinterpret_cast<const float*>(source.halves + from);
    stride = source.line_stride / 2;
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      auto* const run = reinterpret_cast<std::uint16_t*>(runs + i * pairs);
      const std::int64_t line = from + i * source.line_stride;
      if (source.floats != nullptr)
        narrow_range(values, source.floats + line, run,
                     [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
      else
        std::copy_n(source.halves + line, values, run);
      if (values < 2 * pairs) run[values] = 0;
    }
  }
  std::uint32_t* const to = panels.at(first, begin);
  transpose_block(lines, stride, count, pairs, reinterpret_cast<float*>(to), panels.width);
  for (std::int64_t l = 0; count < kPairRows && l < pairs; ++l)
    std::fill(to + l * panels.width + count, to + l * panels.width + kPairRows, 0u);
}

// Packs all pairs of all lines; lines from the last one to `padded` are zero.
inline void pack_all_runs(const PairLines& source, std::int64_t padded, const PairPanels& panels) {
  for (std::int64_t begin = 0; begin < panels.pairs; begin += kMaxPairs) {
    const std::int64_t end = std::min(begin + kMaxPairs, panels.pairs);
    for (std::int64_t line = 0; line < padded; line += kPairRows) {
      if (line < source.lines) {
        pack_runs(source, line, begin, end, panels);
        continue;
      }
      for (std::int64_t l = begin; l < end; ++l) std::fill_n(panels.at(line, l), kPairRows, 0u);
    }
  }
}

// Packs the pairs [begin, end) of up to `kPackedRows` lines that are interleaved (a line stride of 1).
inline void pack_neighbours(const PairLines& source, std::int64_t first, std::int64_t begin,
                            std::int64_t end, const PairPanels& panels) {
  const hn::CappedTag<std::uint32_t, kPairRows> words;
  const hn::Rebind<std::uint16_t, decltype(words)> halves;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(words));
  constexpr std::int64_t kAhead =
      8;  // steps of the depth; the hardware prefetcher does not follow such strides
  const std::int64_t count = std::min(kPackedRows, source.lines - first);
  for (std::int64_t l = begin; l < end; ++l) {
    const std::uint16_t* const even = source.halves + first + 2 * l * source.depth_stride;
    const bool has_odd = 2 * l + 1 < source.depth;
    const std::uint16_t* const odd = even + source.depth_stride;
    __builtin_prefetch(even + kAhead * source.depth_stride);
    __builtin_prefetch(odd + kAhead * source.depth_stride);
    std::int64_t i = 0;
    for (; has_odd && i + kPairRows <= count; i += kPairRows) {
      std::uint32_t* const to = panels.at(first + i, l);
      for (std::int64_t j = 0; j < kPairRows; j += kWidth) {
        const auto low = hn::PromoteTo(words, hn::LoadU(halves, even + i + j));
        const auto high = hn::PromoteTo(words, hn::LoadU(halves, odd + i + j));
        hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), words, to + j);
      }
    }
    for (; i < count; ++i)
      *panels.at(first + i, l) = even[i] | (has_odd ? std::uint32_t{odd[i]} << 16 : 0u);
    for (; i % panels.width != 0; ++i) *panels.at(first + i, l) = 0;
  }
}

// Packs all pairs of all lines.
inline void pack_all_neighbours(const PairLines& source, const PairPanels& panels) {
  for (std::int64_t line = 0; line < source.lines; line += kPackedRows)
    pack_neighbours(source, line, 0, panels.pairs, panels);
}

// While alive, flushes operands and results below 2^-126 to zero, like products of pairs.
class ScopedSubnormalFlush {
#if defined(__x86_64__)
 public:
  ScopedSubnormalFlush() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushed); }
  ~ScopedSubnormalFlush() { _mm_setcsr(before_); }
  ScopedSubnormalFlush(const ScopedSubnormalFlush&) = delete;
  ScopedSubnormalFlush& operator=(const ScopedSubnormalFlush&) = delete;

 private:
  static constexpr unsigned kFlushed = 0x8040;  // results, operands
  unsigned before_;
#endif
};

// Pairs multiplied at a time. The widened rows and the columns of this many pairs stay in the L1 cache.
inline constexpr std::int64_t kPairsTogether = 128;

constexpr auto kPairLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
// Vectors of floats in one of kPairColumns columns.
constexpr std::int64_t kPairParts = kPairColumns / kPairLanes;
// Rows and vectors of a tile, chosen so that its sums leave enough registers for the operands.
constexpr int kPairTileRows = kPairLanes == 16 ? 8 : 4, kPairTileVectors = kPairLanes == 16 ? 3 : 2;

// Halves of pairs of up to kPairRows rows as floats: for each pair the upper halves of all rows, then the lower halves.
struct WidenedRows {
  HWY_ALIGN float values[2 * kPairRows * kPairsTogether];

  void widen(const std::uint32_t* rows, std::int64_t pairs) {
    const hn::CappedTag<float, kPairRows> d;
    const hn::RebindToUnsigned<decltype(d)> bits;
    constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (std::int64_t i = 0; i < kPairRows * pairs; i += kWidth) {
      float* const to = values + i / kPairRows * 2 * kPairRows + i % kPairRows;
      const auto pair = hn::LoadU(bits, rows + i);
      hn::StoreU(hn::BitCast(d, hn::And(pair, hn::Set(bits, 0xffff0000u))), d, to);
      hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(pair)), d, to + kPairRows);
    }
  }
};

// Adds the products of kRows widened rows and kVectors vectors of pairs of columns to the sums; `first`: starts from
// zero. Not inlined, so that no operation moves out of the scope of `ScopedSubnormalFlush`.
template <int kRows, int kVectors>
HWY_NOINLINE void multiply_tile(const float* rows, const std::uint32_t* const* columns,
                                std::int64_t pairs, bool first, float* sums) {
  const Floats d;
  const Bits bits;
  hn::Vec<Floats> sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[i][v] = first ? hn::Zero(d) : hn::LoadU(d, sums + i * kPieceStride + v * kPairLanes);
  }
  const auto add = [&](const float* left, const auto& halves) HWY_ATTR {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto value = hn::Set(d, left[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(value, halves[v], sum[i][v]);
    }
  };
  for (std::int64_t l = 0; l < pairs; ++l, rows += 2 * kPairRows) {
    hn::Vec<Floats> halves[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      halves[v] = hn::BitCast(
          d, hn::And(hn::LoadU(bits, columns[v] + l * kPairStride), hn::Set(bits, 0xffff0000u)));
    add(rows, halves);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      halves[v] = hn::BitCast(d, hn::ShiftLeft<16>(hn::LoadU(bits, columns[v] + l * kPairStride)));
    add(rows + kPairRows, halves);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[i][v], d, sums + i * kPieceStride + v * kPairLanes);
  }
}

template <int kVectors>
void multiply_rows(const float* rows, std::int64_t count, const std::uint32_t* const* columns,
                   std::int64_t pairs, bool first, float* sums) {
  if (count == 1) return multiply_tile<1, kVectors>(rows, columns, pairs, first, sums);
  for (std::int64_t row = 0; row < count; row += kPairTileRows)
    multiply_tile<kPairTileRows, kVectors>(rows + row, columns, pairs, first,
                                           sums + row * kPieceStride);
}

// `multiply_bf16_pairs` with fused multiply-adds of float.
inline void multiply_pairs_fma(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                               float* sums) {
  static thread_local WidenedRows widened;
  [[maybe_unused]] const ScopedSubnormalFlush flush_subnormals{};
  const std::int64_t vectors = columns.count * kPairParts;
  for (std::int64_t begin = 0; begin < std::max<std::int64_t>(pairs, 1); begin += kPairsTogether) {
    const std::int64_t together = std::min(kPairsTogether, pairs - begin);
    widened.widen(rows.data + begin * kPairRows, together);
    for (std::int64_t vector = 0; vector < vectors; vector += kPairTileVectors) {
      const auto multiply = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
        const std::uint32_t* right[kVectors];
        for (std::int64_t v = 0; v < kVectors; ++v)
          right[v] = columns.data[(vector + v) / kPairParts] +
                     (vector + v) % kPairParts * kPairLanes + begin * kPairStride;
        multiply_rows<kVectors>(widened.values, rows.count, right, together, begin == 0,
                                sums + vector * kPairLanes);
      };
      const std::int64_t left = vectors - vector;
      if (left == 1)
        multiply(std::integral_constant<int, 1>());
      else if (left == 2)
        multiply(std::integral_constant<int, 2>());
      else
        multiply(std::integral_constant<int, kPairTileVectors>());
    }
  }
}

using MultiplyPairs = void (*)(const PairRows&, const PairVectors&, std::int64_t, float*);

// Returns the multiplication to use on this CPU.
inline MultiplyPairs pair_multiplier() {
  const bool by_pairs = hn::MaxLanes(Floats()) == kPairColumns && has_bf16_products();
  return by_pairs ? multiply_bf16_pairs : multiply_pairs_fma;
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
