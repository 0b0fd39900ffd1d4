#include "hone/kernels/mask.h"

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/mask.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

// Without branches, which would be slow for random zeros, so bound by memory bandwidth.
HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

void mask_range(std::int64_t n, const float* x, const std::uint8_t* kept, float* y) {
  const Floats d;
  const hn::Rebind<std::uint8_t, Floats> bytes;
  const hn::RebindToSigned<Floats> words;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto is_kept = hn::PromoteTo(words, load(bytes, kept + i, part));
    const auto keeps = hn::RebindMask(d, hn::Ne(is_kept, hn::Zero(words)));
    store(hn::IfThenElseZero(keeps, load(d, x + i, part)), d, y + i, part);
  });
}

void threshold_range(float least, std::int64_t n, const float* x, const float* dy, float* dx) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto below = hn::Lt(hn::Abs(load(d, x + i, part)), hn::Set(d, least));
    store(hn::IfThenZeroElse(below, load(d, dy + i, part)), d, dx + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(mask_range);
HWY_EXPORT(threshold_range);

}  // namespace

void mask(ThreadPool& pool, std::int64_t n, const float* x, const bool* kept, float* y) {
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(kept);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(mask_range)(end - begin, x + begin, bytes + begin, y + begin);
  });
}

void threshold(ThreadPool& pool, std::int64_t n, float least, const float* x, float* y) {
  threshold_gradient(pool, n, least, x, x, y);
}

void threshold_gradient(ThreadPool& pool, std::int64_t n, float least, const float* x,
                        const float* dy, float* dx) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(threshold_range)(least, end - begin, x + begin, dy + begin, dx + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
