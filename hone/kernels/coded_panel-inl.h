// Decodes panels of packed weights (packed_matrix.h) to floats, with one decoder for every width and kind of values,
// chosen by `with_decoder`. Compiled once per Highway target.
#if defined(HONE_KERNELS_CODED_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_CODED_PANEL_INL_H_
#undef HONE_KERNELS_CODED_PANEL_INL_H_
#else
#define HONE_KERNELS_CODED_PANEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "hone/kernels/half-inl.h"
#include "hone/kernels/unpack-inl.h"
#include "hone/kernels/vector_loop-inl.h"
#include "hone/kernels/weight_only_product.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatLanes = hn::Vec<Floats>;
using Words = hn::RebindToSigned<Floats>;
using WordLanes = hn::Vec<Words>;

// The decoders. `load` returns the codes of kColumns columns from `column` on, for a vector of rows from row `at` of a
// panel on. `value<kPlace>` returns the values of one of these columns, `value_at` those of a column chosen at run
// time. If kAdds, the caller adds `first` and the offset of the row to the values.

// Codes as bytes.
template <int kBits>
struct CodeBytes {
  static constexpr int kColumns = 4;
  using Loaded = WordLanes;
  PanelCodes<kBits> codes;

  explicit CodeBytes(const CodedWeight& weight)
      : codes{packed_columns({weight.rows, weight.columns, kBits})} {}
  HWY_INLINE WordLanes load(const std::uint8_t* panel, std::int64_t column, std::int64_t at) const {
    const hn::Repartition<std::uint8_t, Floats> d;
    return hn::BitCast(Words(), codes.load(d, panel, column / 4, at * 4));
  }
};

template <int kPlace>
HWY_INLINE WordLanes byte_of(WordLanes words) {
  const hn::RebindToUnsigned<Words> d;
  return hn::BitCast(Words(),
                     hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kPlace>(hn::BitCast(d, words))));
}

// Numbers of 16 bits, two columns per word.
template <Half kHalf>
struct Halves16 {
  static constexpr int kColumns = 2;
  static constexpr bool kAdds = false;
  static constexpr float first = 0;
  using Loaded = BitsVec;

  static HWY_INLINE BitsVec load(const std::uint8_t* codes, std::int64_t column, std::int64_t at) {
    const hn::Repartition<std::uint8_t, Floats> bytes;
    return hn::BitCast(Bits(), hn::LoadU(bytes, codes + column / kColumns * kQuadBytes + at * 4));
  }
  template <int kPlace>
  static HWY_INLINE FloatLanes value(BitsVec words) {
    const Bits d;
    BitsVec bits;
    if constexpr (kHalf == Half::bfloat16)
      bits = kPlace == 0 ? hn::ShiftLeft<16>(words) : hn::And(words, hn::Set(d, 0xffff0000u));
    else
      bits = from_float16(
          d, kPlace == 0 ? hn::And(words, hn::Set(d, 0xffffu)) : hn::ShiftRight<16>(words));
    return hn::BitCast(Floats(), bits);
  }
  static HWY_INLINE FloatLanes value_at(BitsVec words, int place) {
    return place == 0 ? value<0>(words) : value<1>(words);
  }
};

// Values that are consecutive integers.
template <int kBits>
struct Counted : CodeBytes<kBits> {
  static constexpr bool kAdds = true;
  float first;

#if HWY_TARGET == HWY_AVX3
  // A byte in the lowest bits of the float 2^23, where neighbouring floats differ by 1.
  static constexpr float kAbove = 0x1p23f;
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    const __m512i from = _mm512_set4_epi32(12 + kPlace, 8 + kPlace, 4 + kPlace, kPlace);
    return FloatLanes{_mm512_castsi512_ps(_mm512_mask_shuffle_epi8(
        _mm512_set1_epi32(0x4b000000), 0x1111111111111111, words.raw, from))};
  }
#else
  static constexpr float kAbove = 0;
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    return hn::ConvertTo(Floats(), byte_of<kPlace>(words));
  }
#endif
  explicit Counted(const CodedWeight& weight)
      : CodeBytes<kBits>(weight), first(weight.values[0] - kAbove) {}
  HWY_INLINE FloatLanes value_at(WordLanes words, int place) const {
    return value<0>(hn::ShiftRightSame(words, 8 * place));
  }
};

// Any values of any width, looked up in memory.
struct Any {
  static constexpr int kColumns = 4;
  static constexpr bool kAdds = true;
  static constexpr float first = 0;
  using Loaded = WordLanes;
  const float* values;
  std::int64_t columns;
  int bits;

  explicit Any(const CodedWeight& weight)
      : values(weight.values),
        columns(packed_columns({weight.rows, weight.columns, weight.bits})),
        bits(weight.bits) {}
  HWY_INLINE WordLanes load(const std::uint8_t* panel, std::int64_t column, std::int64_t at) const {
    const hn::Repartition<std::uint8_t, Floats> d;
    auto codes = hn::Zero(d);
    with_bits(bits, [&]<int kBits>() HWY_ATTR {
      codes = PanelCodes<kBits>{columns}.load(d, panel, column / 4, at * 4);
    });
    return hn::BitCast(Words(), codes);
  }
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    const WordLanes index = byte_of<kPlace>(words);
#if HWY_TARGET == HWY_AVX3
    return hn::GatherIndex(Floats(), values, index);
#else  // gathers of AVX2 are no faster than this
    HWY_ALIGN std::int32_t from[kLanes];
    HWY_ALIGN float found[kLanes];
    hn::Store(index, Words(), from);
    for (std::int64_t i = 0; i < kLanes; ++i) found[i] = values[from[i]];
    return hn::Load(Floats(), found);
#endif
  }
  HWY_INLINE FloatLanes value_at(WordLanes words, int place) const {
    return value<0>(hn::ShiftRightSame(words, 8 * place));
  }
};

#if HWY_TARGET == HWY_AVX3
// A vector of 16 floats is the lookup table. Bits above a code in the index belong to other codes and have no effect,
// since the table repeats itself.
template <int kBits>
struct Table {
  static constexpr int kColumns = 32 / kBits;
  using Loaded = WordLanes;
  static constexpr bool kAdds = false;
  static constexpr float first = 0;
  FloatLanes table;

  explicit Table(const CodedWeight& weight) {
    HWY_ALIGN float floats[16];
    for (int code = 0; code < 16; ++code) floats[code] = weight.values[code % (1 << kBits)];
    table = hn::Load(Floats(), floats);
  }
  static HWY_INLINE WordLanes load(const std::uint8_t* codes, std::int64_t column,
                                   std::int64_t at) {
    const hn::Repartition<std::uint8_t, Floats> bytes;
    return hn::BitCast(Words(), hn::LoadU(bytes, codes + column / kColumns * kQuadBytes + at * 4));
  }
  static constexpr int shift(int place) { return place % 4 * 8 + place / 4 * kBits; }
  HWY_INLINE FloatLanes look_up(WordLanes words) const {
    return FloatLanes{_mm512_permutexvar_ps(words.raw, table.raw)};
  }
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    return look_up(hn::ShiftRight<shift(kPlace)>(words));
  }
  HWY_INLINE FloatLanes value_at(WordLanes words, int place) const {
    return look_up(hn::ShiftRightSame(words, shift(place)));
  }
};

// Codes whose values are bfloat16: two tables of their bytes in registers, of 256 entries for codes of 8 bits and 128
// for others. Needs AVX-512 VBMI. Its instructions are inline assembly, because the target does not include them.
template <int kBits>
struct HalfTables : CodeBytes<kBits> {
  static constexpr bool kAdds = true;
  static constexpr float first = 0;
  static constexpr int kTables = kBits == 8 ? 4 : 2;
  struct Loaded {
    __m512i high, low;
  };
  __m512i high[kTables], low[kTables];

  explicit HalfTables(const CodedWeight& weight) : CodeBytes<kBits>(weight) {
    HWY_ALIGN std::uint8_t bytes[2][64 * kTables] = {};
    for (int code = 0; code < 1 << kBits; ++code) {
      std::uint32_t value;
      std::memcpy(&value, weight.values + code, sizeof(value));
      bytes[0][code] = static_cast<std::uint8_t>(value >> 24);
      bytes[1][code] = static_cast<std::uint8_t>(value >> 16);
    }
    for (int t = 0; t < kTables; ++t) {
      high[t] = _mm512_load_si512(bytes[0] + 64 * t);
      low[t] = _mm512_load_si512(bytes[1] + 64 * t);
    }
  }
  HWY_INLINE Loaded load(const std::uint8_t* panel, std::int64_t column, std::int64_t at) const {
    const __m512i code = CodeBytes<kBits>::load(panel, column, at).raw;
    return {look_up(code, high), look_up(code, low)};
  }
  template <int kPlace>
  HWY_INLINE FloatLanes value(const Loaded& loaded) const {
    constexpr int kByte = kPlace * 0x01010101;
    const __m512i from =
        _mm512_set4_epi32(0x0c0c0c0c + kByte, 0x08080808 + kByte, 0x04040404 + kByte, kByte);
    const __m512i top = _mm512_maskz_shuffle_epi8(0x8888888888888888, loaded.high, from);
    return FloatLanes{
        _mm512_castsi512_ps(_mm512_mask_shuffle_epi8(top, 0x4444444444444444, loaded.low, from))};
  }
  HWY_INLINE FloatLanes value_at(const Loaded& loaded, int place) const {
    const __m128i down = _mm_cvtsi32_si128(8 * place);
    return value<0>({_mm512_srl_epi32(loaded.high, down), _mm512_srl_epi32(loaded.low, down)});
  }

 private:
  // Returns the bytes of two tables at the lowest 7 bits of each index.
  static HWY_INLINE __m512i look_up_128(__m512i index, __m512i first_half, __m512i second_half) {
    asm("vpermi2b %2, %1, %0" : "+v"(index) : "v"(first_half), "v"(second_half));
    return index;
  }
  static HWY_INLINE __m512i look_up(__m512i code, const __m512i (&tables)[kTables]) {
    const __m512i found = look_up_128(code, tables[0], tables[1]);
    if constexpr (kTables == 2) {
      return found;
    } else {
      return _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), found,
                                    look_up_128(code, tables[2], tables[3]));
    }
  }
};
#else
// Codes of 4 bits and integer values from -128 to 127: a vector of bytes is a table of the values plus 128.
struct WholeTable : CodeBytes<4> {
  static constexpr bool kAdds = true;
  static constexpr float first = -128;
  hn::Vec<hn::Repartition<std::uint8_t, Floats> > table;

  explicit WholeTable(const CodedWeight& weight) : CodeBytes<4>(weight) {
    HWY_ALIGN std::uint8_t bytes[16];
    for (int code = 0; code < 16; ++code)
      bytes[code] = static_cast<std::uint8_t>(128 + static_cast<int>(weight.values[code]));
    table = hn::LoadDup128(hn::Repartition<std::uint8_t, Floats>(), bytes);
  }
  HWY_INLINE WordLanes load(const std::uint8_t* codes, std::int64_t column, std::int64_t at) const {
    const hn::Repartition<std::uint8_t, Floats> bytes;
    const auto code = hn::BitCast(bytes, CodeBytes<4>::load(codes, column, at));
    return hn::BitCast(Words(), hn::TableLookupBytes(table, code));
  }
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    return hn::ConvertTo(Floats(), byte_of<kPlace>(words));
  }
  HWY_INLINE FloatLanes value_at(WordLanes words, int place) const {
    return value<0>(hn::ShiftRightSame(words, 8 * place));
  }
};
#if HWY_TARGET == HWY_AVX2
// Codes of 4 bits: two vectors of 8 floats are the lookup table.
struct TwoTables : CodeBytes<4> {
  static constexpr bool kAdds = false;
  static constexpr float first = 0;
  FloatLanes low, high;

  explicit TwoTables(const CodedWeight& weight)
      : CodeBytes<4>(weight),
        low(hn::LoadU(Floats(), weight.values)),
        high(hn::LoadU(Floats(), weight.values + 8)) {}
  // The lookup uses the lowest 3 bits of an index. The blend uses the sign bit, to which bit 3 is shifted.
  HWY_INLINE FloatLanes look_up(WordLanes index) const {
    const __m256 from_low = _mm256_permutevar8x32_ps(low.raw, index.raw);
    const __m256 from_high = _mm256_permutevar8x32_ps(high.raw, index.raw);
    const __m256 chosen = _mm256_castsi256_ps(_mm256_slli_epi32(index.raw, 28));
    return FloatLanes{_mm256_blendv_ps(from_low, from_high, chosen)};
  }
  template <int kPlace>
  HWY_INLINE FloatLanes value(WordLanes words) const {
    return look_up(hn::ShiftRight<8 * kPlace>(words));
  }
  HWY_INLINE FloatLanes value_at(WordLanes words, int place) const {
    return look_up(hn::ShiftRightSame(words, 8 * place));
  }
};
#endif
#endif

inline bool are_whole(const CodedWeight& weight) {
  for (int code = 0; code < 1 << weight.bits; ++code) {
    const float value = weight.values[code];
    if (!(value >= -128 && value <= 127) || value != static_cast<float>(static_cast<int>(value)))
      return false;
  }
  return true;
}

inline bool are_counted(const CodedWeight& weight) {
  const float first = weight.values[0];
  if (!(first >= -65536 && first <= 65536) || first != static_cast<float>(static_cast<int>(first)))
    return false;
  for (int code = 0; code < 1 << weight.bits; ++code)
    if (weight.values[code] != first + static_cast<float>(code)) return false;
  return true;
}

inline bool are_bfloat16(const CodedWeight& weight) {
  for (int code = 0; code < 1 << weight.bits; ++code) {
    std::uint32_t bits;
    std::memcpy(&bits, weight.values + code, sizeof(bits));
    if ((bits & 0xffff) != 0) return false;
  }
  return true;
}

// Calls body(decoder) with the fastest decoder for the weight.
template <class Body>
void with_decoder(const CodedWeight& weight, Body&& body) {
  if (weight.half == Half::bfloat16) return body(Halves16<Half::bfloat16>());
  if (weight.half == Half::float16) return body(Halves16<Half::float16>());
#if HWY_TARGET == HWY_AVX3
  if (!weight.adds()) {
    if (weight.bits == 4) return body(Table<4>(weight));
    if (weight.bits == 2) return body(Table<2>(weight));
    if (weight.bits == 1) return body(Table<1>(weight));
  }
#else
  if (weight.bits == 4 && are_whole(weight)) return body(WholeTable(weight));
#if HWY_TARGET == HWY_AVX2
  if (weight.bits == 4 && !weight.adds()) return body(TwoTables(weight));
#endif
#endif
  if (are_counted(weight))
    return with_bits(weight.bits, [&]<int kBits>() { body(Counted<kBits>(weight)); });
#if HWY_TARGET == HWY_AVX3
  if (__builtin_cpu_supports("avx512vbmi") && are_bfloat16(weight)) {
    if (weight.bits == 3) return body(HalfTables<3>(weight));
    if (weight.bits == 5) return body(HalfTables<5>(weight));
    if (weight.bits == 6) return body(HalfTables<6>(weight));
    if (weight.bits == 7) return body(HalfTables<7>(weight));
    if (weight.bits == 8) return body(HalfTables<8>(weight));
  }
#endif
  body(Any(weight));
}

// The codes and scales of a panel.
struct CodedPanel {
  const CodedWeight& weight;
  std::int64_t row;  // the first
  const std::uint8_t* codes;
  const std::uint8_t* scales = nullptr;  // of blocks

  CodedPanel(const CodedWeight& coded, std::int64_t panel)
      : weight(coded),
        row(panel * kPackedRows),
        codes(coded.codes + panel * kPackedRows * row_bytes(coded)) {
    if (coded.block_scales != nullptr)
      scales = coded.block_scales +
               row * ((coded.columns + coded.block - 1) / coded.block) * coded.scale_bytes;
  }
  static std::int64_t row_bytes(const CodedWeight& coded) {
    return packed_columns({coded.rows, coded.columns, coded.bits}) * coded.bits / 8;
  }

  // Loads a vector of an array with one value per row, from row `at` of the panel on; missing rows are zero.
  HWY_INLINE FloatLanes of_rows(const float* array, std::int64_t at) const {
    const std::int64_t left = weight.rows - row - at;
    if (left >= kLanes) return hn::LoadU(Floats(), array + row + at);
    return left > 0 ? load(Floats(), array + row + at, Partial{left}) : hn::Zero(Floats());
  }
  HWY_INLINE FloatLanes scale(std::int64_t column, std::int64_t at) const {
    if (scales == nullptr) return of_rows(weight.scales, at);
    if (weight.scale_bytes > 1)
      return hn::Mul(half_scales(scales_of_block(column) + at, kPackedRows),
                     hn::Set(Floats(), weight.unit));
    const WordLanes exponent = widened(scales_of_block(column) + at);
    const auto power = hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(Words(), weight.scale_shift)));
    return hn::Mul(hn::BitCast(Floats(), power), hn::Set(Floats(), weight.unit));
  }
  // Returns what is added to the values of a decoder.
  HWY_INLINE FloatLanes offset(float first, std::int64_t column, std::int64_t at) const {
    const FloatLanes value = hn::Set(Floats(), first);
    if (weight.scale_bytes == 3) {
      const WordLanes zero = widened(scales_of_block(column) + 2 * kPackedRows + at);
      return hn::Sub(value, hn::ConvertTo(Floats(), zero));
    }
    return weight.offsets == nullptr ? value : hn::Add(of_rows(weight.offsets, at), value);
  }
  HWY_INLINE const std::uint8_t* scales_of_block(std::int64_t column) const {
    return scales + column / weight.block * kPackedRows * weight.scale_bytes;
  }
  // Returns the end of the columns that share the scale of `column`.
  std::int64_t scale_end(std::int64_t column) const {
    return scales == nullptr ? weight.columns : (column / weight.block + 1) * weight.block;
  }
};

// Calls whole(k) for every kColumns columns of [begin, end) whose codes share words, and single(k) for the other
// columns.
template <int kColumns, class WholeBody, class SingleBody>
HWY_INLINE void for_words(std::int64_t begin, std::int64_t end, WholeBody&& whole,
                          SingleBody&& single) {
  for (std::int64_t k = begin; k < end;) {
    if (k % kColumns == 0 && k + kColumns <= end) {
      whole(k);
      k += kColumns;
    } else {
      single(k++);
    }
  }
}

// Calls body<kPlace>() for kPlace = 0, 1, … kCount - 1.
template <int kCount, int kPlace = 0, class Body>
HWY_INLINE void for_places(Body&& body) {
  if constexpr (kPlace < kCount) {
    body.template operator()<kPlace>();
    for_places<kCount, kPlace + 1>(body);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
