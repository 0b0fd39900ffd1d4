// Rounds vectors of floats to powers of two. Compiled once per Highway target.
//
//     const PowerRounder<Floats> round(d, grid);
//     store(round(load(d, x + i, part)), d, y + i, part);
#if defined(HONE_KERNELS_LOGARITHM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_LOGARITHM_INL_H_
#undef HONE_KERNELS_LOGARITHM_INL_H_
#else
#define HONE_KERNELS_LOGARITHM_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hone/kernels/logarithm.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Computes round(log2|x|) from the bits of x: the fraction of sqrt(2) is between 0x3504f3 and 0x3504f4. Cheap to
// construct: two broadcasts.
template <class D>
class PowerRounder {
 public:
  using V = hn::Vec<D>;

  HWY_INLINE PowerRounder(D, const PowerGrid& grid)
      : smallest_(hn::Set(Bits(), smallest_kept(grid.min_exponent))),
        largest_(hn::Set(Bits(), (grid.max_exponent + 127) << 23)) {}

  HWY_INLINE V operator()(V x) const {
    const D d;
    const auto magnitude = hn::BitCast(Bits(), hn::Abs(x));
    const auto carried = hn::Add(magnitude, hn::Set(Bits(), 0x800000 - kRootOfTwo));
    const auto power = hn::Min(hn::And(carried, hn::Set(Bits(), 0x7f800000)), largest_);
    const auto kept = hn::IfThenZeroElse(hn::Lt(magnitude, smallest_), power);
    return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySignToAbs(hn::BitCast(d, kept), x));
  }

 private:
  using Bits = hn::RebindToSigned<D>;

  static constexpr std::int32_t kRootOfTwo = 0x3504f4;  // first fraction above sqrt(2) - 1

  // The bits of the smallest float that rounds to 2^min_exponent: the first above
  // sqrt(2) 2^(min_exponent - 1), which for -126 is the subnormal sqrt(1/2) 2^-126.
  static constexpr std::int32_t smallest_kept(int min_exponent) {
    return min_exponent == -126 ? 0x5a827a : ((min_exponent + 126) << 23) | kRootOfTwo;
  }

  hn::Vec<Bits> smallest_;
  hn::Vec<Bits> largest_;
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
