#include "hone/formats/observation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr int kFractionBits = 23;
constexpr int kKeptBits = 10;  // of the fraction
constexpr int kDroppedBits = kFractionBits - kKeptBits;
constexpr std::size_t kBinsOfBlock = std::size_t{1} << kKeptBits;
constexpr std::uint32_t kDropped = (1u << kDroppedBits) - 1;
constexpr std::size_t kNegative = 256;  // the first block of negative values

float float_at(std::uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace

void Observation::Values::count(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::vector<Bin>& block = by_exponent[bits >> kFractionBits];
  if (block.empty()) block.resize(kBinsOfBlock);
  Bin& bin = block[bits >> kDroppedBits & (kBinsOfBlock - 1)];
  ++bin.count;
  bin.dropped += bits & kDropped;
}

void Observation::Values::include(float value) {
  if (binned) return count(value);
  if (exact.size() < kExactValues) return exact.push_back(value);
  for (const float one : exact) count(one);
  exact = {};
  binned = true;
  count(value);
}

void Observation::include(std::span<const float> values) {
  if (values_ == nullptr) {
    values_ = std::make_shared<Values>();
  } else if (values_.use_count() > 1) {
    values_ = std::make_shared<Values>(*values_);
  }
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite_;
      continue;
    }
    value += 0.0f;  // turns -0 into 0
    minimum_ = std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
    sum_magnitude_ += std::fabs(static_cast<double>(value));
    ++count_;
    values_->include(value);
  }
}

float Observation::magnitude() const {
  return count_ == 0 ? 0 : std::max(std::fabs(minimum_), std::fabs(maximum_));
}

Observation::Group Observation::group_of(std::size_t block, std::size_t index, const Bin& bin) {
  const auto first =
      static_cast<std::uint32_t>(block % kNegative << kFractionBits | index << kDroppedBits);
  const float low = float_at(first);
  // Floats with the same exponent are evenly spaced.
  const double step = static_cast<double>(float_at(first + 1)) - low;
  const double mean =
      low + step * static_cast<double>(bin.dropped) / static_cast<double>(bin.count);
  const float high = bin.dropped == 0 ? low : float_at(first | kDropped);
  return block < kNegative ? Group{low, high, mean, bin.count}
                           : Group{-high, -low, -mean, bin.count};
}

std::vector<Observation::Group> Observation::groups() const {
  std::vector<Group> groups;
  if (values_ == nullptr) return groups;
  std::vector<float> sorted = values_->exact;
  std::ranges::sort(sorted);
  for (const float value : sorted) {
    if (groups.empty() || groups.back().low != value) groups.push_back({value, value, value, 0});
    ++groups.back().count;
  }
  const auto add = [&](std::size_t block, std::size_t index) {
    const Bin& bin = values_->by_exponent[block][index];
    if (bin.count == 0) return;
    Group group = group_of(block, index, bin);
    group.low = std::max(group.low, minimum_);
    group.high = std::min(group.high, maximum_);
    groups.push_back(group);
  };
  for (std::size_t block = 2 * kNegative; block-- > kNegative;)
    for (std::size_t i = values_->by_exponent[block].size(); i-- > 0;) add(block, i);
  for (std::size_t block = 0; block < kNegative; ++block)
    for (std::size_t i = 0; i < values_->by_exponent[block].size(); ++i) add(block, i);
  return groups;
}

Observation::Range Observation::range_without(std::int64_t outside) const {
  HONE_ASSERT(outside >= 0 && 2 * outside < count_, "{} of {} values", outside, count_);
  const std::vector<Group> all = groups();
  const auto first_inside = [outside](auto group) {
    for (std::int64_t seen = group->count; seen <= outside; seen += group->count) ++group;
    return group;
  };
  return {first_inside(all.begin())->low, first_inside(all.rbegin())->high};
}

float Observation::magnitude_quantile(double share) const {
  HONE_ASSERT(share > 0 && share <= 1, "quantile {}", share);
  std::vector<Group> all = groups();
  std::ranges::sort(all, {}, [](const Group& group) { return std::fabs(group.mean); });
  std::int64_t seen = 0;
  for (const Group& group : all) {
    seen += group.count;
    if (static_cast<double>(seen) >= share * static_cast<double>(count_))
      return static_cast<float>(std::fabs(group.mean));
  }
  return 0;
}

Observation::Summary Observation::summary(double resolution) const {
  Summary summary;
  const auto add = [&](double value, double weight) {
    summary.values.push_back(static_cast<float>(value));
    summary.weights.push_back(weight);
  };
  for (const Group& group : groups()) {
    const double width = static_cast<double>(group.high) - group.low;
    const auto count = static_cast<double>(group.count);
    if (!(width > resolution)) {
      add(group.mean, count);
      continue;
    }
    const double parts = std::min(count, std::ceil(width / resolution));
    for (double i = 0.5; i < parts; ++i) add(group.low + width * i / parts, count / parts);
  }
  return summary;
}

Observation Observation::with_range(float low, float high) const {
  Observation other = *this;
  other.minimum_ = low;
  other.maximum_ = high;
  return other;
}

}  // namespace hone
