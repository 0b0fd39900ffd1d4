// Unpacks panels of packed weights (packed_matrix.h) of any width to bytes. Compiled once per Highway target.
#if defined(HONE_KERNELS_UNPACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_UNPACK_INL_H_
#undef HONE_KERNELS_UNPACK_INL_H_
#else
#define HONE_KERNELS_UNPACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hone/kernels/packed_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Bytes of four columns of a panel of 8 bits.
inline constexpr std::int64_t kQuadBytes = kPackedRows * 4;

// Codes of kBits bits of a panel with `columns` columns, padding included, assembled from their planes.
template <int kBits>
struct PanelCodes {
  std::int64_t columns;

  // Returns the codes of columns 4 quad … 4 quad + 3 as bytes, for the rows whose bytes in a unit of 8 bits begin at
  // `at`.
  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, const std::uint8_t* panel, std::int64_t quad,
                             std::int64_t at) const {
    hn::Vec<D> codes = hn::Zero(d);
    const std::uint8_t* plane = panel + at;
    add_plane<8>(d, plane, quad, codes);
    add_plane<4>(d, plane, quad, codes);
    add_plane<2>(d, plane, quad, codes);
    add_plane<1>(d, plane, quad, codes);
    return codes;
  }

 private:
  template <int kWidth, class D>
  HWY_INLINE void add_plane(D d, const std::uint8_t*& plane, std::int64_t quad,
                            hn::Vec<D>& codes) const {
    if constexpr ((kBits & kWidth) != 0) {
      const hn::Repartition<std::uint16_t, D> halves;
      constexpr int kParts = 8 / kWidth, kUp = kBits & (kWidth - 1);
      auto part = hn::BitCast(halves, hn::LoadU(d, plane + quad / kParts * kQuadBytes));
      if constexpr (kWidth < 8) {
        part = hn::ShiftRightSame(part, static_cast<int>(quad % kParts) * kWidth);
        part =
            hn::And(part, hn::Set(halves, static_cast<std::uint16_t>(((1 << kWidth) - 1) * 0x101)));
      }
      codes = hn::Or(codes, hn::BitCast(d, hn::ShiftLeft<kUp>(part)));
      plane += columns * kPackedRows * kWidth / 8;
    }
  }
};

// Calls body.operator()<bits>() for bits from 1 to 8.
template <class Body>
HWY_INLINE void with_bits(int bits, Body&& body) {
  switch (bits) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    case 6:
      return body.template operator()<6>();
    case 7:
      return body.template operator()<7>();
    default:
      return body.template operator()<8>();
  }
}

// Unpacks the codes of the first `count` quads of columns of a panel of `quads` to `to` (count, 32 rows, 4), through
// map(d, vector of bytes). Prefetches the next panel, since the hardware prefetcher loses track of it between calls.
template <class Map>
void unpack_panel(int bits, std::int64_t quads, const std::uint8_t* panel, std::int64_t count,
                  std::uint8_t* to, Map&& map) {
  const hn::CappedTag<std::uint8_t, kQuadBytes> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  with_bits(bits, [&]<int kBits>() HWY_ATTR {
    const PanelCodes<kBits> codes{quads * 4};
    constexpr std::int64_t kBytes = kQuadBytes * kBits / 8;
    for (std::int64_t quad = 0; quad < count; ++quad) {
      for (std::int64_t at = 0; at < kBytes; at += 64)
        __builtin_prefetch(panel + (quads + quad) * kBytes + at);
      for (std::int64_t at = 0; at < kQuadBytes; at += lanes)
        hn::StoreU(map(d, codes.load(d, panel, quad, at)), d, to + quad * kQuadBytes + at);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
