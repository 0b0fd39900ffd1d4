// The tile of a product of integers: up to kTileRows rows of activations by one panel of 32 rows of
// weights, summed over all of K in registers. Textually included once for every policy `Dot` of
// int8_dot-inl.h, inside of a namespace and of what the policy is compiled with.
//
//   AVX-512: 6 rows x 2 vectors of 16, 24 accumulators of 32 registers, half of them of integers;
//   else 3 x 2, 12 of 16, and four vectors of 8 where there is one row.

using Sums = Dot::Sums;
using Floats32 = hn::RebindToFloat<Sums>;
using WeightBytes = hn::Repartition<std::uint8_t, Sums>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(Sums()));
constexpr int kTileRows = kLanes == 16 ? 6 : 3;
constexpr std::int64_t kQuad = 4;
constexpr std::int64_t kUnitBytes = kPackedRows * kQuad;

template <int kRows>
constexpr int kTileVectors = kLanes == 8 && kRows == 1 ? 4 : 2;

// The weights of kVectors vectors of rows as they stand in a panel of 8 bits: a unit holds one quad
// of columns.
struct WholeBytes {
  static constexpr int kQuads = 1;
  explicit HWY_INLINE WholeBytes(const Panel&) {}
  template <int kPart>
  HWY_INLINE Dot::Right quad(const std::uint8_t* unit) const {
    return Dot::right(hn::LoadU(WeightBytes(), unit));
  }
};

// Of 4 bits: two quads, each of whose codes stands for one of 16 bytes.
struct HalfBytes {
  static constexpr int kQuads = 2;
  explicit HWY_INLINE HalfBytes(const Panel& panel)
      : values_(hn::LoadDup128(WeightBytes(), panel.values)) {}
  template <int kPart>
  HWY_INLINE Dot::Right quad(const std::uint8_t* unit) const {
    const hn::Repartition<std::uint16_t, Sums> halves;
    auto bytes = hn::LoadU(WeightBytes(), unit);
    if (kPart == 1)
      bytes = hn::BitCast(WeightBytes(), hn::ShiftRight<4>(hn::BitCast(halves, bytes)));
    const auto low = hn::And(bytes, hn::Set(WeightBytes(), std::uint8_t{15}));
    return Dot::right(hn::TableLookupBytes(values_, low));
  }

 private:
  hn::Vec<WeightBytes> values_;
};

template <int kRows>
struct TileSums {
  Dot::Sum of[kRows][kTileVectors<kRows>];
};

// Adds part kPart of a unit: kRows quads of activations, `quad` the place in their rows.
template <int kPart, class Codes, int kRows>
HWY_INLINE void add_quad(const Codes& codes, const std::uint8_t* unit,
                         const Dot::Left* const (&rows)[kRows], std::int64_t quad,
                         TileSums<kRows>& sums) {
  constexpr int kVectors = kTileVectors<kRows>;
  typename Dot::Right right[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    right[v] = codes.template quad<kPart>(unit + v * kLanes * kQuad);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums.of[i][v] = Dot::dot(right[v], rows[i][quad], sums.of[i][v]);
  }
}

template <class Codes, int kRows>
HWY_INLINE void add_unit(const Codes& codes, const std::uint8_t* unit,
                         const Dot::Left* const (&rows)[kRows], std::int64_t quad,
                         TileSums<kRows>& sums) {
  add_quad<0>(codes, unit, rows, quad, sums);
  if constexpr (Codes::kQuads == 2) add_quad<1>(codes, unit, rows, quad + 1, sums);
}

// Adds `quads` quads, a whole number of units, and moves behind them.
template <class Codes, int kRows>
HWY_INLINE void add_quads(const Codes& codes, std::int64_t quads, const std::uint8_t*& unit,
                          const Dot::Left* (&rows)[kRows], TileSums<kRows>& sums) {
  constexpr std::int64_t kStep = 4;
  std::int64_t left = quads;
  for (; left >= kStep; left -= kStep) {
#pragma GCC unroll 4
    for (std::int64_t q = 0; q < kStep; q += Codes::kQuads)
      add_unit(codes, unit + q / Codes::kQuads * kUnitBytes, rows, q, sums);
    unit += kStep / Codes::kQuads * kUnitBytes;
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) rows[i] += kStep;
  }
  for (; left > 0; left -= Codes::kQuads) {
    add_unit(codes, unit, rows, 0, sums);
    unit += kUnitBytes;
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) rows[i] += Codes::kQuads;
  }
}

// 2^(byte - 127) of kLanes scale bytes, 0 for the byte 0.
HWY_INLINE hn::Vec<Floats32> powers(const std::uint8_t* scales) {
  const hn::Rebind<std::uint8_t, Sums> bytes;
  return hn::BitCast(Floats32(),
                     hn::ShiftLeft<23>(hn::PromoteTo(Sums(), hn::LoadU(bytes, scales))));
}

// The part of the tile in vectors [vector, vector + kTileVectors), without scales in between.
template <class Codes, int kRows>
HWY_INLINE void sum_whole_rows(const TileRows<Dot::Left>& left, const Panel& panel, int vector,
                               std::int32_t* to) {
  constexpr int kVectors = kTileVectors<kRows>;
  const Codes codes(panel);
  const std::uint8_t* unit = panel.codes + vector * kLanes * kQuad;
  const typename Dot::Left* rows[kRows];
  TileSums<kRows> sums;
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    rows[i] = left.codes + i * left.stride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums.of[i][v] = hn::Set(Sums(), left.starts[i]);
  }
  add_quads(codes, panel.quads, unit, rows, sums);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sums.of[i][v], Sums(), to + i * kPackedRows + (vector + v) * kLanes);
  }
}

// The same with scales. The sums of a block begin with the bits of c = 1.5 · 2^(23 + d), less what
// the zero of the weights makes; after it they are the bits of the float c + 2^d (sum of the block)
// exactly, because that sum is at most 2^22 in magnitude.
template <class Codes, int kRows>
HWY_INLINE void sum_blocks(const TileRows<Dot::Left>& left, const Panel& panel, int vector,
                           float* to) {
  constexpr int kVectors = kTileVectors<kRows>;
  const Floats32 d;
  const Codes codes(panel);
  const std::uint8_t* unit = panel.codes + vector * kLanes * kQuad;
  const std::uint8_t* scales = panel.scales + vector * kLanes;
  const typename Dot::Left* rows[kRows];
  hn::Vec<Floats32> total[kRows][kVectors];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    rows[i] = left.codes + i * left.stride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) total[i][v] = hn::Zero(d);
  }
  const std::int32_t* starts = left.starts;
  const std::int32_t* origins = left.origins;
  for (std::int64_t quad = 0; quad < panel.quads; quad += panel.block_quads) {
    TileSums<kRows> sums;
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums.of[i][v] = hn::Set(Sums(), starts[i * left.blocks]);
    }
    add_quads(codes, std::min(panel.block_quads, panel.quads - quad), unit, rows, sums);
    hn::Vec<Floats32> scale[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) scale[v] = powers(scales + v * kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const auto origin = hn::BitCast(d, hn::Set(Sums(), origins[i * left.blocks]));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const auto sum = hn::Sub(hn::BitCast(d, sums.of[i][v]), origin);
        total[i][v] = hn::MulAdd(sum, scale[v], total[i][v]);
      }
    }
    scales += kPackedRows;
    ++starts;
    ++origins;
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(total[i][v], d, to + i * kPackedRows + (vector + v) * kLanes);
  }
}

// `to` (kTileRows, 32) becomes the sums of a tile: integers where the panel has no scales, else
// floats.
template <class Codes, int kRows>
void sum_tile(const TileRows<Dot::Left>& left, const Panel& panel, void* to) {
  for (int vector = 0; vector < kPackedRows / kLanes; vector += kTileVectors<kRows>) {
    if (panel.scales == nullptr) {
      sum_whole_rows<Codes, kRows>(left, panel, vector, static_cast<std::int32_t*>(to));
    } else {
      sum_blocks<Codes, kRows>(left, panel, vector, static_cast<float*>(to));
    }
  }
}

using SumTile = void (*)(const TileRows<Dot::Left>&, const Panel&, void*);

template <class Codes, int... kRow>
constexpr std::array<SumTile, kTileRows> tiles_of(std::integer_sequence<int, kRow...>) {
  return {sum_tile<Codes, kRow + 1>...};
}

inline SumTile tile_for(int bits, std::int64_t rows) {
  using Rows = std::make_integer_sequence<int, kTileRows>;
  static constexpr std::array<SumTile, kTileRows> kWhole = tiles_of<WholeBytes>(Rows());
  static constexpr std::array<SumTile, kTileRows> kHalf = tiles_of<HalfBytes>(Rows());
  return (bits == 8 ? kWhole : kHalf)[static_cast<std::size_t>(rows - 1)];
}
