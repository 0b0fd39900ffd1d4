// Panels of packed weights (packed_matrix.h) of any width as bytes, compiled once per Highway target.
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

// `to` (end - begin, 32 rows, 4) becomes the codes of quads [begin, end) of columns of a panel that has
// `quads` of them, every one put through map(d, vector of bytes).
template <class Map>
void unpack_panel(int bits, std::int64_t quads, const std::uint8_t* panel, std::int64_t begin,
                  std::int64_t end, std::uint8_t* to, Map&& map) {
  constexpr std::int64_t kQuadBytes = kPackedRows * 4;
  const hn::CappedTag<std::uint8_t, kQuadBytes> d;
  const hn::Repartition<std::uint16_t, decltype(d)> halves;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  bool first = true;
  // a plane at a time: the wider ones lie in wait in `to` until the narrowest completes them
  for (int width = 8; width >= 1; width /= 2) {
    if ((bits & width) == 0) continue;
    const int shift = bits & (width - 1), parts = 8 / width;
    const auto mask = hn::Set(d, static_cast<std::uint8_t>((1 << width) - 1));
    for (std::int64_t quad = begin; quad < end; ++quad) {
      const std::uint8_t* const unit = panel + quad / parts * kQuadBytes;
      const int down = static_cast<int>(quad % parts) * width;
      for (std::int64_t i = 0; i < kQuadBytes; i += lanes) {
        std::uint8_t* const at = to + (quad - begin) * kQuadBytes + i;
        const auto pairs = hn::BitCast(halves, hn::LoadU(d, unit + i));
        auto codes = hn::And(hn::BitCast(d, hn::ShiftRightSame(pairs, down)), mask);
        codes = hn::BitCast(d, hn::ShiftLeftSame(hn::BitCast(halves, codes), shift));
        if (!first) codes = hn::Or(codes, hn::LoadU(d, at));
        hn::StoreU(shift == 0 ? map(d, codes) : codes, d, at);
      }
    }
    panel += quads / parts * kQuadBytes;
    first = false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
