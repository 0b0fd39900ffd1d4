// The tile of a product of integers: up to kTileRows rows of activations by one panel of 32 rows of weights, summed
// over all of K in registers. Textually included once for every policy `Dot` of int8_dot-inl.h, inside a namespace and
// the target attributes of the policy.
//
//   AVX-512: 6 rows x 2 vectors of 16: 12 sums in 32 registers, plus as many totals of blocks or sums
//   of 16 bits; else 3 x 2: 6 and 6 of 16 registers; four vectors of 8 for a single row.

using Sums = Dot::Sums;
using Floats32 = hn::RebindToFloat<Sums>;
using WeightBytes = hn::Repartition<std::uint8_t, Sums>;
using Bytes = hn::Vec<WeightBytes>;

constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Sums()));
constexpr int kTileRows = kLanes == 16 ? 6 : 3;
static_assert(Int8Rows::kGroup % kTileRows == 0);
constexpr std::int64_t kQuad = 4;
constexpr std::int64_t kUnitBytes = kPackedRows * kQuad;

template <int kRows>
constexpr int kTileVectors = kLanes == 8 && kRows == 1 ? 4 : 2;

// Weights of a panel of 8 bits, read in place: a unit holds one quad of columns.
struct WholeBytes {
  static constexpr int kQuads = 1;
  explicit HWY_INLINE WholeBytes(const Panel&) {}
  template <int kPart>
  HWY_INLINE Bytes quad(const std::uint8_t* unit) const {
    return hn::LoadU(WeightBytes(), unit);
  }
};

// Codes of 4 bits themselves, not their values.
struct HalfBytes {
  static constexpr int kQuads = 2;
  explicit HWY_INLINE HalfBytes(const Panel&) {}
  template <int kPart>
  HWY_INLINE Bytes quad(const std::uint8_t* unit) const {
    const hn::Repartition<std::uint16_t, Sums> halves;
    auto bytes = hn::LoadU(WeightBytes(), unit);
    if constexpr (kPart == 1)
      bytes = hn::BitCast(WeightBytes(), hn::ShiftRight<4>(hn::BitCast(halves, bytes)));
    return hn::And(bytes, hn::Set(WeightBytes(), std::uint8_t{0x0f}));
  }
};

// Values of codes of 4, 2 or 1 bits: a unit holds as many quads as a byte has codes. Each code is replaced by its
// value, a byte of a table of 16. Codes in the lower half of a byte are used as an index without shifting them down:
// there is one table for every position.
template <int kBits>
struct PartBytes {
  static constexpr int kQuads = 8 / kBits;
  static constexpr int kTables = 4 / kBits;
  explicit HWY_INLINE PartBytes(const Panel& panel) {
#pragma GCC unroll 4
    for (int t = 0; t < kTables; ++t) {
      HWY_ALIGN std::uint8_t bytes[16] = {};
#pragma GCC unroll 16
      for (int code = 0; code < 1 << kBits; ++code) bytes[code << (t * kBits)] = panel.values[code];
      tables_[t] = hn::LoadDup128(WeightBytes(), bytes);
    }
  }
  template <int kPart>
  HWY_INLINE Bytes quad(const std::uint8_t* unit) const {
    const hn::Repartition<std::uint16_t, Sums> halves;
    constexpr int kTable = kPart % kTables;
    constexpr auto kMask = static_cast<std::uint8_t>(((1 << kBits) - 1) << (kTable * kBits));
    auto bytes = hn::LoadU(WeightBytes(), unit);
    if (kPart >= kTables)
      bytes = hn::BitCast(WeightBytes(), hn::ShiftRight<4>(hn::BitCast(halves, bytes)));
    return hn::TableLookupBytes(tables_[kTable], hn::And(bytes, hn::Set(WeightBytes(), kMask)));
  }

 private:
  hn::Vec<WeightBytes> tables_[kTables];
};

// Independent sums per element: the few sums of a single row would otherwise wait for each other.
template <int kRows>
constexpr int kChains = kRows == 1 ? 2 : 1;

// Returns the number of rows whose starts are stored together: those of the tile if it is a whole group.
template <int kRows>
HWY_INLINE std::int64_t group_of(const TileRows<Dot::Left>& left) {
  return kTileRows == Int8Rows::kGroup ? kRows : left.group;
}

template <int kRows>
struct TileSums {
  Dot::Sum of[kChains<kRows>][kRows][kTileVectors<kRows>];

  // Adds all chains to the first.
  HWY_INLINE void join() {
    if constexpr (kChains<kRows> == 2) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors<kRows>; ++v) of[0][0][v] = hn::Add(of[0][0][v], of[1][0][v]);
    }
  }
};

// Sets the initial sums. They compensate for bytes that are 128 above their values, or half bytes that are 8 above:
// origin minus start is 128 times the sum of the activations.
template <int kRows>
HWY_INLINE void begin(const std::int32_t* starts, std::int64_t group, TileSums<kRows>& sums) {
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    const std::int32_t origin = starts[group + i];
    const std::int32_t start = Dot::kHalfBytes ? origin - ((origin - starts[i]) >> 4) : starts[i];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors<kRows>; ++v) {
      sums.of[0][i][v] = hn::Set(Sums(), start);
      if constexpr (kChains<kRows> == 2) sums.of[1][i][v] = hn::Zero(Sums());
    }
  }
}

// Pointers to rows of activations, advanced by whole quads.
template <int kRows>
class MovingRows {
 public:
  explicit HWY_INLINE MovingRows(const TileRows<Dot::Left>& left) {
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) rows_[i] = left.codes + i * left.stride;
  }
  HWY_INLINE const Dot::Left& at(int row, std::int64_t quad) const { return rows_[row][quad]; }
  HWY_INLINE void move(std::int64_t quads) {
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) rows_[i] += quads;
  }

 private:
  const Dot::Left* rows_[kRows];
};

// Returns the bytes of quad kAt from `unit` on, in vector `v`.
template <int kAt, class Codes>
HWY_INLINE Bytes bytes_of(const Codes& codes, const std::uint8_t* unit, int v) {
  return codes.template quad<kAt % Codes::kQuads>(unit + kAt / Codes::kQuads * kUnitBytes +
                                                  v * kLanes * kQuad);
}

// `D` is `Dot` as a template parameter, so that members are looked up only on use: not every policy has all of them.
template <int kPart, int kAt, int kRows, class D = Dot>
HWY_INLINE void add_part(const Bytes* bytes, const MovingRows<kRows>& rows, TileSums<kRows>& sums) {
  constexpr int kVectors = kTileVectors<kRows>;
  typename D::Right right[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) right[v] = D::template right<kPart>(bytes[v]);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Dot::Sum& sum = sums.of[kAt % kChains<kRows>][i][v];
      sum = D::template dot<kPart>(right[v], rows.at(i, kAt), sum);
    }
  }
}

// Adds quads kAt to kEnd - 1 from `unit` on, one after the other.
template <int kAt, int kEnd, class Codes, int kRows>
HWY_INLINE void add_each(const Codes& codes, const std::uint8_t* unit,
                         const MovingRows<kRows>& rows, TileSums<kRows>& sums) {
  Bytes bytes[kTileVectors<kRows>];
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors<kRows>; ++v) bytes[v] = bytes_of<kAt>(codes, unit, v);
  add_part<0, kAt>(bytes, rows, sums);
  if constexpr (Dot::kParts == 2) add_part<1, kAt>(bytes, rows, sums);
  if constexpr (kAt + 1 < kEnd) add_each<kAt + 1, kEnd>(codes, unit, rows, sums);
}

// Sums of 16 bits.
template <int kRows, class D = Dot>
struct TileJoined {
  typename D::Pairs of[kRows][kTileVectors<kRows>];
};

// Joins quads kAt to kEnd - 1 from `unit` on with the previous ones from kBegin on.
template <int kBegin, int kAt, int kEnd, class Codes, int kRows, class D = Dot>
HWY_INLINE void join_each(const Codes& codes, const std::uint8_t* unit,
                          const MovingRows<kRows>& rows, TileJoined<kRows, D>& joined) {
  constexpr int kVectors = kTileVectors<kRows>;
  typename D::Right right[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) right[v] = bytes_of<kAt>(codes, unit, v);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto product = D::multiply(right[v], rows.at(i, kAt));
      joined.of[i][v] = kAt == kBegin ? product : D::join(joined.of[i][v], product);
    }
  }
  if constexpr (kAt + 1 < kEnd) join_each<kBegin, kAt + 1, kEnd>(codes, unit, rows, joined);
}

// Adds quads kAt to kEnd - 1 from `unit` on, kTogether at a time.
template <int kAt, int kEnd, class Codes, int kRows, class D = Dot>
HWY_INLINE void add_joined(const Codes& codes, const std::uint8_t* unit,
                           const MovingRows<kRows>& rows, TileSums<kRows>& sums) {
  constexpr int kNext = std::min(kAt + D::kTogether, kEnd);
  TileJoined<kRows, D> joined;
  join_each<kAt, kAt, kNext>(codes, unit, rows, joined);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors<kRows>; ++v) {
      Dot::Sum& sum = sums.of[0][i][v];
      sum = D::fold(joined.of[i][v], sum);
    }
  }
  if constexpr (kNext < kEnd) add_joined<kNext, kEnd>(codes, unit, rows, sums);
}

// Prefetches data needed later while a tile is summed: 1 / `tiles` of the bytes that the tile reads.
struct Prefetcher {
  const std::uint8_t* at;  // null: no prefetch
  std::int64_t tiles;
  std::int64_t due = 0;  // bytes read and not yet matched by prefetches

  HWY_INLINE void fetch(std::int64_t bytes) {
    if (at == nullptr) return;
    for (due += bytes; due > 0; due -= kLineBytes * tiles) {
      __builtin_prefetch(at, 0, 2);
      at += kLineBytes;
    }
  }

 private:
  static constexpr std::int64_t kLineBytes = 64;
};

// Only the first vectors of a panel prefetch.
HWY_INLINE Prefetcher prefetcher_for(const Panel& panel, int vector) {
  return {.at = vector == 0 ? panel.ahead : nullptr, .tiles = panel.tiles};
}

// Adds kQuads quads, a whole number of units, and advances past them.
template <int kQuads, class Codes, int kRows>
HWY_INLINE void add_quads(const Codes& codes, const std::uint8_t*& unit, Prefetcher& prefetcher,
                          MovingRows<kRows>& rows, TileSums<kRows>& sums) {
  prefetcher.fetch(kQuads / Codes::kQuads * kUnitBytes);
  if constexpr (Dot::kJoins) {
    add_joined<0, kQuads>(codes, unit, rows, sums);
  } else {
    add_each<0, kQuads>(codes, unit, rows, sums);
  }
  unit += kQuads / Codes::kQuads * kUnitBytes;
  rows.move(kQuads);
}

// The same for any multiple of the quads of a unit.
template <class Codes, int kRows>
HWY_INLINE void add_quads(const Codes& codes, std::int64_t quads, const std::uint8_t*& unit,
                          Prefetcher& prefetcher, MovingRows<kRows>& rows, TileSums<kRows>& sums) {
  constexpr int kStep = std::max({4, Dot::kTogether, Codes::kQuads});
  for (; quads >= kStep; quads -= kStep) add_quads<kStep>(codes, unit, prefetcher, rows, sums);
  for (; quads > 0; quads -= Codes::kQuads)
    add_quads<Codes::kQuads>(codes, unit, prefetcher, rows, sums);
}

// Returns 2^(byte - 127) for kLanes scale bytes, 0 for the byte 0.
HWY_INLINE hn::Vec<Floats32> powers(const std::uint8_t* scales) {
  const hn::Rebind<std::uint8_t, Sums> bytes;
  return hn::BitCast(Floats32(),
                     hn::ShiftLeft<23>(hn::PromoteTo(Sums(), hn::LoadU(bytes, scales))));
}

// Sums vectors [vector, vector + kTileVectors) of the tile, without block scales.
template <class Codes, int kRows>
HWY_INLINE void sum_whole_rows(const TileRows<Dot::Left>& left, const Panel& panel, int vector,
                               std::int32_t* to) {
  constexpr int kVectors = kTileVectors<kRows>;
  const Codes codes(panel);
  const std::uint8_t* unit = panel.codes + vector * kLanes * kQuad;
  Prefetcher prefetcher = prefetcher_for(panel, vector);
  MovingRows<kRows> rows(left);
  TileSums<kRows> sums;
  begin(left.starts, group_of<kRows>(left), sums);
  add_quads(codes, panel.quads, unit, prefetcher, rows, sums);
  sums.join();
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto origin = hn::Set(Sums(), left.starts[group_of<kRows>(left) + i]);
      hn::StoreU(hn::Sub(sums.of[0][i][v], origin), Sums(),
                 to + i * kPackedRows + (vector + v) * kLanes);
    }
  }
}

template <int kRows>
struct TileTotals {
  hn::Vec<Floats32> of[kRows][kTileVectors<kRows>];
};

// Subtracts the origins from the sums of a block and adds them to the totals, times their scales. Origin minus start is
// 128 times the sum of the activations of the block, which zero points multiply.
template <int kRows>
HWY_INLINE void add_block(const TileSums<kRows>& sums, const std::int32_t* starts,
                          std::int64_t group, const Panel& panel, const std::uint8_t* scales,
                          TileTotals<kRows>& totals) {
  constexpr int kVectors = kTileVectors<kRows>;
  const Floats32 d;
  const bool has_zeros = panel.scale_bytes == 3;
  hn::Vec<Floats32> scale[kVectors], zero[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const std::uint8_t* const at = scales + v * kLanes;
    scale[v] = panel.scale_bytes == 1 ? powers(at) : half_scales(at, kPackedRows);
    zero[v] = hn::Zero(d);
    if (has_zeros)
      zero[v] = hn::Add(hn::ConvertTo(d, widened(at + 2 * kPackedRows)), hn::Set(d, panel.lowest));
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    const auto origin = hn::BitCast(d, hn::Set(Sums(), starts[group + i]));
    const auto start = hn::BitCast(d, hn::Set(Sums(), starts[i]));
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      auto sum = hn::Sub(hn::BitCast(d, sums.of[0][i][v]), origin);
      if (has_zeros) {
        const auto activations = hn::Mul(hn::Sub(origin, start), hn::Set(d, 0x1p-7f));
        sum = hn::Sub(sum, hn::Mul(zero[v], activations));
      }
      totals.of[i][v] = hn::MulAdd(sum, scale[v], totals.of[i][v]);
    }
  }
}

// The same with block scales. The sums of a block begin with the bits of c = 1.5 · 2^(23 + d), minus the contribution
// of the 128 of the weights. At its end they are exactly the bits of the float c + 2^d (sum of the block), because that
// sum is at most 2^22 in magnitude. Blocks have kBlockQuads quads; 0: panel.block_quads.
template <class Codes, int kRows, int kBlockQuads>
HWY_INLINE void sum_blocks(const TileRows<Dot::Left>& left, const Panel& panel, int vector,
                           float* to) {
  constexpr int kVectors = kTileVectors<kRows>;
  const Floats32 d;
  const Codes codes(panel);
  const std::uint8_t* unit = panel.codes + vector * kLanes * kQuad;
  const std::uint8_t* scales = panel.scales + vector * kLanes;
  const std::int32_t* starts = left.starts;
  const std::int64_t group = group_of<kRows>(left);
  Prefetcher prefetcher = prefetcher_for(panel, vector);
  MovingRows<kRows> rows(left);
  TileTotals<kRows> totals;
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) totals.of[i][v] = hn::Zero(d);
  }
  const std::int64_t block_quads = kBlockQuads == 0 ? panel.block_quads : kBlockQuads;
  std::int64_t quads = panel.quads;
  for (; quads >= block_quads; quads -= block_quads) {
    TileSums<kRows> sums;
    begin(starts, group, sums);
    if constexpr (kBlockQuads == 0) {
      add_quads(codes, block_quads, unit, prefetcher, rows, sums);
    } else {
      add_quads<kBlockQuads>(codes, unit, prefetcher, rows, sums);
    }
    sums.join();
    add_block(sums, starts, group, panel, scales, totals);
    starts += 2 * group;
    scales += kPackedRows * panel.scale_bytes;
  }
  if (quads > 0) {
    TileSums<kRows> sums;
    begin(starts, group, sums);
    add_quads(codes, quads, unit, prefetcher, rows, sums);
    sums.join();
    add_block(sums, starts, group, panel, scales, totals);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(totals.of[i][v], d, to + i * kPackedRows + (vector + v) * kLanes);
  }
}

// Computes the sums of a tile to `to` (kTileRows, 32): integers if the panel has no scales, else floats.
template <class Codes, int kRows>
void sum_tile(const TileRows<Dot::Left>& left, const Panel& panel, void* to) {
  constexpr bool kHasBlocks = !Dot::kJoins || Dot::kHalfBytes;
  for (int vector = 0; vector < kPackedRows / kLanes; vector += kTileVectors<kRows>) {
    if (!kHasBlocks || panel.scales == nullptr) {
      sum_whole_rows<Codes, kRows>(left, panel, vector, static_cast<std::int32_t*>(to));
      continue;
    }
    if constexpr (kHasBlocks) {
      auto* const floats = static_cast<float*>(to);
      if (Codes::kQuads <= 2 && panel.block_quads == 4) {
        sum_blocks<Codes, kRows, Codes::kQuads <= 2 ? 4 : 0>(left, panel, vector, floats);
      } else if (Codes::kQuads <= 2 && panel.block_quads == 8) {
        sum_blocks<Codes, kRows, Codes::kQuads <= 2 ? 8 : 0>(left, panel, vector, floats);
      } else {
        sum_blocks<Codes, kRows, 0>(left, panel, vector, floats);
      }
    }
  }
}

using SumTile = void (*)(const TileRows<Dot::Left>&, const Panel&, void*);

template <class Codes, int... kRow>
constexpr std::array<SumTile, sizeof...(kRow)> tiles_of(std::integer_sequence<int, kRow...>) {
  return {sum_tile<Codes, kRow + 1>...};
}

// Returns the tile function for panels of 8, 4, 2 or 1 bits; 2 and 1 only for up to kFewRows rows. Policies with half
// bytes read 4 bits; other joining policies read 8 bits with a scale per row.
inline SumTile tile_for(int bits, std::int64_t rows) {
  using Rows = std::make_integer_sequence<int, kTileRows>;
  const auto row = static_cast<std::size_t>(rows - 1);
  if constexpr (Dot::kHalfBytes) {
    static constexpr auto kHalf = tiles_of<HalfBytes>(Rows());
    return kHalf[row];
  } else if constexpr (Dot::kJoins) {
    static constexpr auto kWhole = tiles_of<WholeBytes>(Rows());
    return kWhole[row];
  } else {
    using FewRows = std::make_integer_sequence<int, std::min<int>(kFewRows, kTileRows)>;
    static constexpr auto kWhole = tiles_of<WholeBytes>(Rows());
    static constexpr auto kHalf = tiles_of<PartBytes<4>>(Rows());
    static constexpr auto kQuarter = tiles_of<PartBytes<2>>(FewRows());
    static constexpr auto kBit = tiles_of<PartBytes<1>>(FewRows());
    return bits == 8 ? kWhole[row] : bits == 4 ? kHalf[row] : bits == 2 ? kQuarter[row] : kBit[row];
  }
}

// Adds the products of the residues of one row to its sums (32).
template <class D = Dot>
void add_residues(const Panel& panel, const Residue* residue, const Residue* end,
                  std::int32_t* to) {
  constexpr int kVectors = kPackedRows / kLanes;
  if (residue == end) return;
  Dot::Sum sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::LoadU(Sums(), to + v * kLanes);
  for (; residue != end; ++residue) {
    const std::uint8_t* const unit = panel.codes + residue->quad * kUnitBytes;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Bytes bytes = hn::LoadU(WeightBytes(), unit + v * kLanes * kQuad);
      sums[v] = D::fold(D::multiply(bytes, residue->left), sums[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], Sums(), to + v * kLanes);
}
