#include "hone/formats/observation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr int kDroppedBits = 18;  // of a float's 32: sign, exponent and 5 bits of fraction stay
constexpr std::size_t kBins = std::size_t{1} << (32 - kDroppedBits);
static_assert(Observation::kBytes == kBins * sizeof(std::int64_t));
constexpr std::size_t kMagnitudes = kBins / 2;  // the upper half of the bins is negative

std::size_t bin_of(float value) { return std::bit_cast<std::uint32_t>(value) >> kDroppedBits; }

float middle_of(std::size_t bin) {
  const auto half = std::uint32_t{1} << (kDroppedBits - 1);
  const bool zero = bin % kMagnitudes == 0;  // the bin of zero and of the smallest subnormals
  return std::bit_cast<float>((static_cast<std::uint32_t>(bin) << kDroppedBits) +
                              (zero ? 0 : half));
}

}  // namespace

void Observation::include(std::span<const float> values) {
  if (bins_.empty()) bins_.assign(kBins, 0);
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite_;
      continue;
    }
    minimum_ = std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
    sum_magnitude_ += std::fabs(static_cast<double>(value));
    ++count_;
    ++bins_[bin_of(value)];
  }
}

float Observation::magnitude() const {
  return count_ == 0 ? 0 : std::max(std::fabs(minimum_), std::fabs(maximum_));
}

Observation::Summary Observation::summary() const {
  Summary summary;
  const auto add = [&](std::size_t bin) {
    if (bins_[bin] == 0) return;
    summary.values.push_back(std::clamp(middle_of(bin), minimum_, maximum_));
    summary.weights.push_back(static_cast<double>(bins_[bin]));
  };
  if (bins_.empty()) return summary;
  for (std::size_t bin = kBins; bin-- > kMagnitudes;) add(bin);
  for (std::size_t bin = 0; bin < kMagnitudes; ++bin) add(bin);
  return summary;
}

float Observation::quantile(double share) const {
  HONE_ASSERT(share > 0 && share <= 1, "quantile {}", share);
  const Summary all = summary();
  double seen = 0;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    seen += all.weights[i];
    if (seen >= share * static_cast<double>(count_)) return all.values[i];
  }
  return 0;
}

float Observation::magnitude_quantile(double share) const {
  HONE_ASSERT(share > 0 && share <= 1, "quantile {}", share);
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin < kMagnitudes && count_ > 0; ++bin) {
    seen += bins_[bin] + bins_[bin + kMagnitudes];
    if (static_cast<double>(seen) >= share * static_cast<double>(count_))
      return std::min(middle_of(bin), magnitude());
  }
  return 0;
}

Observation Observation::clipped(float low, float high) const {
  Observation narrower = *this;
  narrower.minimum_ = std::max(minimum_, low);
  narrower.maximum_ = std::min(maximum_, high);
  return narrower;
}

}  // namespace hone
