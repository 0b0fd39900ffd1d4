#include "hone/kernels/logarithm.h"

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scalar/logarithm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/logarithm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/logarithm-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

void powers_range(const PowerGrid& grid, std::int64_t n, const float* x, float* y) {
  const Floats d;
  const PowerRounder<Floats> round(d, grid);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(round(load(d, x + i, part)), d, y + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(powers_range);

}  // namespace

float round_to_power(const PowerGrid& grid, float x) {
  return scalar::Powers{grid.min_exponent, grid.max_exponent}(x);
}

void round_to_powers(ThreadPool& pool, const PowerGrid& grid, std::int64_t n, const float* x,
                     float* y) {
  HONE_ASSERT(-126 <= grid.min_exponent && grid.min_exponent <= grid.max_exponent &&
                  grid.max_exponent <= 127,
              "powers of two from {} to {}", grid.min_exponent, grid.max_exponent);
  const auto range = &HWY_DYNAMIC_DISPATCH(powers_range);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(grid, end - begin, x + begin, y + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
