// The tile of a sparse product: up to kTileVectors vectors of rows of activations by one list of entries after the
// other. Lanes are rows, so all lanes share the codes of an entry. Textually included once for every policy `Dot` of
// int8_dot-inl.h, inside a namespace and the target attributes of the policy. The bytes of the policy are here
// activations, its signed bytes weights.

using Sum = Dot::Sum;
using RowBytes = hn::Repartition<std::uint8_t, Words>;
using Bytes = hn::Vec<RowBytes>;

// Independent sums per element, since the sums of few vectors would wait for each other: enough to hide the latency of
// one-step policies.
template <int kVectors, class D = Dot>
constexpr int kChains = D::kParts == 2 || D::kJoins ? 1 : (kVectors > 2 ? 2 : 4);

// Adds the products of four codes with those of kVectors vectors of rows.
template <int kVectors, class D = Dot>
HWY_INLINE void add_entry(const std::uint8_t* x, const FourCodes& codes, Sum (&sums)[kVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const Bytes bytes = hn::LoadU(RowBytes(), x + v * 4 * kLanes);
    if constexpr (D::kJoins) {
      sums[v] = D::fold(D::multiply(bytes, codes), sums[v]);
    } else if constexpr (D::kParts == 2) {
      const typename D::Left left = widened(codes);
      sums[v] = D::template dot<0>(D::template right<0>(bytes), left, sums[v]);
      sums[v] = D::template dot<1>(D::template right<1>(bytes), left, sums[v]);
    } else {
      sums[v] = D::template dot<0>(bytes, codes, sums[v]);
      asm("" : "+v"(sums[v].raw));  // see WideningDot
    }
  }
}

// The same for `count` entries, which are joined in 16 bits.
template <int kVectors, class D = Dot>
HWY_INLINE void add_joined(const std::uint8_t* x, const std::uint8_t* quads, const FourCodes* codes,
                           std::int64_t count, Sum (&sums)[kVectors]) {
  constexpr std::int64_t kStride = kVectors * 4 * kLanes;
  typename D::Pairs joined[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    joined[v] =
        D::multiply(hn::LoadU(RowBytes(), x + quads[0] * kStride + v * 4 * kLanes), codes[0]);
#pragma GCC unroll 8
  for (std::int64_t i = 1; i < count; ++i) {
    const std::uint8_t* const at = x + quads[i] * kStride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      joined[v] =
          D::join(joined[v], D::multiply(hn::LoadU(RowBytes(), at + v * 4 * kLanes), codes[i]));
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = D::fold(joined[v], sums[v]);
}

// Sets `sums` (64 outputs, kVectors * kLanes rows) to the sums of the entries of a cell, or adds them. `cell` is passed
// by value to stay in registers, since stores to `sums` might alias a reference.
template <int kVectors>
void add_cell(Cell cell, const std::uint8_t* x, std::int32_t* sums) {
  constexpr std::int64_t kRows = kVectors * kLanes, kStride = 4 * kRows;
  constexpr int kSums = kChains<kVectors>;
  const std::uint8_t* quad = cell.quads;
  const FourCodes* codes = cell.codes;
  for (std::int64_t i = 0; i < cell.count; ++i) {
    const std::int64_t output = cell.outputs[i];
    std::int32_t* const to = sums + output * kRows;
    Sum sum[kSums][kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[0][v] = cell.code_sums == nullptr ? hn::LoadU(Words(), to + v * kLanes)
                                            : hn::Set(Words(), start_of(cell.code_sums[output]));
#pragma GCC unroll 4
      for (int s = 1; s < kSums; ++s) sum[s][v] = hn::Zero(Words());
    }
    const std::uint8_t* const end = quad + cell.counts[i];
    if constexpr (Dot::kTogether > 1) {
      constexpr std::int64_t kTogether = Dot::kTogether;
      for (; end - quad >= kTogether; quad += kTogether, codes += kTogether)
        add_joined<kVectors>(x, quad, codes, kTogether, sum[0]);
      if (quad != end) add_joined<kVectors>(x, quad, codes, end - quad, sum[0]);
      codes += end - quad;
      quad = end;
    } else {
      // The remainder of the entries modulo the number of sums comes first.
      if constexpr (kSums > 1) {
        for (const std::uint8_t* const few = quad + cell.counts[i] % kSums; quad != few;
             ++quad, ++codes)
          add_entry<kVectors>(x + *quad * kStride, *codes, sum[0]);
      }
      for (; quad != end; quad += kSums, codes += kSums) {
#pragma GCC unroll 4
        for (int s = 0; s < kSums; ++s)
          add_entry<kVectors>(x + quad[s] * kStride, codes[s], sum[s]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
      for (int s = 1; s < kSums; ++s) sum[0][v] = hn::Add(sum[0][v], sum[s][v]);
      hn::StoreU(sum[0][v], Words(), to + v * kLanes);
    }
  }
}

inline AddCell add_cell_for(std::int64_t vectors) {
  static constexpr AddCell kCells[kTileVectors] = {add_cell<1>, add_cell<2>, add_cell<3>,
                                                   add_cell<4>};
  return kCells[vectors - 1];
}
