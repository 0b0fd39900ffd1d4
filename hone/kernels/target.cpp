#include "hone/kernels/target.h"

#include <fmt/core.h>

#include <cstdint>

#include "hone/base/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/target.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(target_name);

namespace {

/// AVX-512 and newer targets, which have lower bits in Highway.
constexpr std::int64_t kWideTargets = 2 * HWY_AVX3 - 1;

}  // namespace

std::string vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

void choose_vector_target() {
  if (!instruction_sets().avx512f) hwy::DisableTargets(kWideTargets);
  if (!hwy::GetChosenTarget().IsInitialized())
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::string highway_version() { return fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH); }

}  // namespace hone::kernels
#endif  // HWY_ONCE
