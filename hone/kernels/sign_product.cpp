// A panel of weights is read in place: a vector of 16 words contains 32 columns of 16 rows. A word of signs of
// activations is broadcast to a vector, and differing bits are counted in every lane. A tile of 8 rows by a panel keeps
// its counts in registers over all of K.
#include "hone/kernels/sign_product.h"

#include <algorithm>
#include <limits>

#include "hone/base/error.h"
#include "hone/kernels/magnitude.h"
#include "hone/kernels/packed_matrix.h"

#ifndef HONE_SIGN_PRODUCT_ONCE
#define HONE_SIGN_PRODUCT_ONCE
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::kernels {
namespace {

constexpr std::int64_t kTileRows = 8;
constexpr int kChains = 12;      // for measuring products in registers
constexpr int kFewerChains = 6;  // if a population count needs extra registers

// Rows of signs, `words` each, by a panel: counts[i * kPackedRows + n] is the number of bits in which row i and row n
// of the panel differ.
struct CountedTile {
  const std::uint32_t* signs;
  const std::uint8_t* panel;
  std::int64_t words;
  std::uint32_t* counts;
};
using CountTile = void (*)(const CountedTile&);

#if defined(__x86_64__)
// Highway has no target with the population count of words and without newer instructions.
template <int kRows>
__attribute__((target("avx512f,avx512vpopcntdq"))) void count_by_words(const CountedTile& tile) {
  __m512i count[kRows][2];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) count[i][0] = count[i][1] = _mm512_setzero_si512();
  for (std::int64_t u = 0; u < tile.words; ++u) {
    const std::uint8_t* const unit = tile.panel + u * kPackedRows * 4;
    const __m512i first = _mm512_loadu_si512(unit), second = _mm512_loadu_si512(unit + 64);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512i row = _mm512_set1_epi32(static_cast<int>(tile.signs[i * tile.words + u]));
      count[i][0] =
          _mm512_add_epi32(count[i][0], _mm512_popcnt_epi32(_mm512_xor_si512(first, row)));
      count[i][1] =
          _mm512_add_epi32(count[i][1], _mm512_popcnt_epi32(_mm512_xor_si512(second, row)));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    _mm512_storeu_si512(tile.counts + i * kPackedRows, count[i][0]);
    _mm512_storeu_si512(tile.counts + i * kPackedRows + 16, count[i][1]);
  }
}

__attribute__((target("avx512f,avx512vpopcntdq"))) std::uint32_t run_by_words(std::int64_t rounds,
                                                                              std::uint32_t start) {
  __m512i chain[kChains];
  const __m512i some = _mm512_set1_epi32(static_cast<int>(start));
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = _mm512_set1_epi32(i);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      chain[i] = _mm512_add_epi32(chain[i], _mm512_popcnt_epi32(_mm512_xor_si512(chain[i], some)));
  }
  std::uint32_t all = 0;
  for (const __m512i& one : chain) {
    std::uint32_t lanes[16];
    _mm512_storeu_si512(lanes, one);
    all += lanes[0];
  }
  return all;
}

bool counts_words() {
  static const bool counts =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vpopcntdq") != 0;
  return counts;
}
#endif

// Returns how many of the remaining rows make a tile.
constexpr std::int64_t tile_rows_of(std::int64_t rows) {
  return rows >= kTileRows ? kTileRows : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

struct SignTarget {
  Epilogue epilogue;
  float* y;
  std::int64_t y_stride;
};

}  // namespace
}  // namespace hone::kernels
#endif  // HONE_SIGN_PRODUCT_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/sign_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Words = hn::RebindToUnsigned<Floats>;

template <int kRows>
void count_portable(const CountedTile& tile) {
  const Words d;
  const hn::Repartition<std::uint8_t, Words> bytes;
  for (std::int64_t at = 0; at < kPackedRows; at += kLanes) {
    hn::Vec<Words> count[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) count[i] = hn::Zero(d);
    for (std::int64_t u = 0; u < tile.words; ++u) {
      const auto weights =
          hn::BitCast(d, hn::LoadU(bytes, tile.panel + (u * kPackedRows + at) * 4));
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const auto row = hn::Set(d, tile.signs[i * tile.words + u]);
        count[i] = hn::Add(count[i], hn::PopulationCount(hn::Xor(weights, row)));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) hn::StoreU(count[i], d, tile.counts + i * kPackedRows + at);
  }
}

template <int kRows>
CountTile tile_of() {
#if defined(__x86_64__)
  if (kLanes == 16 && counts_words()) return count_by_words<kRows>;
#endif
  return count_portable<kRows>;
}

CountTile tile_for(std::int64_t rows) {
  return rows == kTileRows ? tile_of<kTileRows>()
         : rows == 4       ? tile_of<4>()
         : rows == 2       ? tile_of<2>()
                           : tile_of<1>();
}

// A piece of y: some rows, and columns of one panel.
struct SignPiece {
  std::int64_t row, rows;
  std::int64_t column, columns;
};

void finish(const SignRows& x, const SignWeight& weight, const std::uint32_t* counts,
            const SignPiece& piece, const SignTarget& to) {
  const Floats d;
  const hn::RebindToSigned<Floats> whole;
  const float* const bias = to.epilogue.bias;
  for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
    const auto scale = load(d, weight.scales + piece.column + j, part);
    const auto term = bias == nullptr ? hn::Zero(d) : load(d, bias + piece.column + j, part);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      const auto differ = hn::BitCast(whole, hn::LoadU(Words(), counts + i * kPackedRows + j));
      const auto sum =
          hn::Sub(hn::Set(whole, static_cast<std::int32_t>(x.columns)), hn::ShiftLeft<1>(differ));
      auto value = hn::MulAdd(hn::Mul(hn::ConvertTo(d, sum), scale),
                              hn::Set(d, x.scales[piece.row + i]), term);
      float* const y = to.y + (piece.row + i) * to.y_stride + piece.column + j;
      if (to.epilogue.accumulate) value = hn::Add(load(d, y, part), value);
      store(value, d, y, part);
    }
  });
  if (!to.epilogue.has_more_steps()) return;
  finish_piece({to.y + piece.row * to.y_stride + piece.column, to.y_stride, piece.row, piece.column,
                piece.rows, piece.columns},
               to.epilogue);
}

void multiply(ThreadPool& pool, const SignRows& x, const SignWeight& weight, const SignTarget& to) {
  // Enough rows to reuse a panel from the L1 cache, and enough panels to make chunks worth claiming.
  constexpr std::int64_t kRows = 64, kChunkWords = 64 << 10;
  const std::int64_t words = x.words();
  const std::int64_t panels = (weight.rows + kPackedRows - 1) / kPackedRows;
  const std::int64_t row_tiles = (x.rows + kRows - 1) / kRows;
  const std::int64_t together = std::max<std::int64_t>(
      1, kChunkWords / std::max<std::int64_t>(1, words * std::min(x.rows, kRows)));
  pool.run(row_tiles * ((panels + together - 1) / together), [&](std::int64_t chunk) {
    HWY_ALIGN std::uint32_t counts[kTileRows * kPackedRows];
    const std::int64_t first = chunk % row_tiles * kRows, last = std::min(first + kRows, x.rows);
    const std::int64_t begin = chunk / row_tiles * together;
    for (std::int64_t p = begin; p < std::min(begin + together, panels); ++p) {
      const std::int64_t column = p * kPackedRows;
      for (std::int64_t row = first; row < last;) {
        const std::int64_t rows = tile_rows_of(last - row);
        tile_for(rows)(
            {x.signs + row * words, weight.codes + p * words * kPackedRows * 4, words, counts});
        finish(x, weight, counts, {row, rows, column, std::min(kPackedRows, weight.rows - column)},
               to);
        row += rows;
      }
    }
  });
}

float run_products(std::int64_t rounds, float start, double* operations) {
  const Words d;
  const auto word = static_cast<std::uint32_t>(start);
  const double word_operations = 2.0 * 32 * static_cast<double>(kLanes * rounds);
#if defined(__x86_64__)
  *operations = word_operations * kChains;
  if (kLanes == 16 && counts_words()) return static_cast<float>(run_by_words(rounds, word));
#endif
  *operations = word_operations * kFewerChains;
  hn::Vec<Words> chain[kFewerChains];
  const auto some = hn::Set(d, word);
#pragma GCC unroll 6
  for (int i = 0; i < kFewerChains; ++i) chain[i] = hn::Set(d, static_cast<std::uint32_t>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 6
    for (int i = 0; i < kFewerChains; ++i)
      chain[i] = hn::Add(chain[i], hn::PopulationCount(hn::Xor(chain[i], some)));
  }
  auto sum = chain[0];
#pragma GCC unroll 6
  for (int i = 1; i < kFewerChains; ++i) sum = hn::Add(sum, chain[i]);
  return static_cast<float>(hn::GetLane(hn::SumOfLanes(d, sum)));
}

// Moves even bits to the lower half and odd bits to the upper half, in order: the lowest bit of a bit's index becomes
// its highest.
std::uint32_t even_bits_first(std::uint32_t bits) {
  const auto swap = [&](std::uint32_t mask, int by) {
    const std::uint32_t differ = (bits ^ bits >> by) & mask;
    bits ^= differ ^ differ << by;
  };
  swap(0x22222222, 1);
  swap(0x0c0c0c0c, 2);
  swap(0x00f000f0, 4);
  swap(0x0000ff00, 8);
  return bits;
}

// Computes the signs of up to 32 values, value 4 q + j at bit 8 j + q. Returns whether a value is NaN.
bool take_word(const float* x, std::int64_t count, std::uint32_t* word) {
  const hn::CappedTag<float, 8> d;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(hn::CappedTag<float, 8>()));
  std::uint32_t bits = 0;
  bool has_nan = false;
  const auto take = [&](const float* from, std::int64_t at) HWY_ATTR {
    const auto values = hn::LoadU(d, from);
    std::uint8_t some[8] = {};
    hn::StoreMaskBits(d, hn::Lt(values, hn::Zero(d)), some);
    bits |= static_cast<std::uint32_t>(some[0]) << at;
    has_nan = has_nan || !hn::AllFalse(d, hn::IsNaN(values));
  };
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) take(x + i, i);
  if (i < count) {
    float rest[kWidth] = {};
    std::copy(x + i, x + count, rest);
    take(rest, i);
  }
  *word = even_bits_first(even_bits_first(bits));
  return has_nan;
}

bool take_row(const float* x, std::int64_t columns, std::uint32_t* words) {
  bool has_nan = false;
  for (std::int64_t k = 0; k < columns; k += 32)
    has_nan = take_word(x + k, std::min<std::int64_t>(32, columns - k), words + k / 32) || has_nan;
  return has_nan;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);
HWY_EXPORT(take_row);
HWY_EXPORT(run_products);

constexpr std::size_t kLineBytes = 64;

std::size_t scales_bytes(std::int64_t rows) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * sizeof(float);
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

std::size_t sign_rows_bytes(std::int64_t rows, std::int64_t columns) {
  const SignRows x{rows, columns};
  return scales_bytes(rows) + static_cast<std::size_t>(rows * x.words()) * sizeof(std::uint32_t);
}

SignRows sign_rows(std::int64_t rows, std::int64_t columns, void* memory) {
  auto* const bytes = static_cast<std::uint8_t*>(memory);
  return {rows, columns, reinterpret_cast<std::uint32_t*>(bytes + scales_bytes(rows)),
          reinterpret_cast<float*>(bytes)};
}

void pack_signs(ThreadPool& pool, const float* x, bool scaled, const SignRows& rows) {
  constexpr std::int64_t kChunkElements = 16 << 10;
  const std::int64_t together =
      std::max<std::int64_t>(1, kChunkElements / std::max<std::int64_t>(1, rows.columns));
  parallel_ranges(pool, rows.rows, together, [&](std::int64_t begin, std::int64_t end) {
    ThreadPool alone(1);
    for (std::int64_t m = begin; m < end; ++m) {
      const float* const row = x + m * rows.columns;
      const bool has_nan =
          HWY_DYNAMIC_DISPATCH(take_row)(row, rows.columns, rows.signs + m * rows.words());
      rows.scales[m] =
          has_nan  ? std::numeric_limits<float>::quiet_NaN()
          : scaled ? static_cast<float>(magnitudes_above(alone, -1, rows.columns, row).mean())
                   : 1;
    }
  });
}

void sign_product(ThreadPool& pool, const SignRows& x, const SignWeight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  HONE_ASSERT(x.columns == weight.columns && x.columns < std::int64_t{1} << 30,
              "a product over {} and {} columns", x.columns, weight.columns);
  if (x.rows == 0 || weight.rows == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)(pool, x, weight, {epilogue, y, y_stride});
}

float run_sign_products(std::int64_t rounds, float start, double* operations) {
  return HWY_DYNAMIC_DISPATCH(run_products)(rounds, start, operations);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
