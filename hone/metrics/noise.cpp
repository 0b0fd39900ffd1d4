#include "hone/metrics/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"

namespace hone {
namespace {

// The two largest different values of one sign of y: the end of the range and its neighbour.
struct End {
  float last = -std::numeric_limits<float>::infinity();
  float before = -std::numeric_limits<float>::infinity();

  void include(float value) {
    if (value > last) {
      before = last;
      last = value;
    } else if (value < last && value > before) {
      before = value;
    }
  }
  // Returns the bound beyond which a value was clipped, not rounded; infinite if all values are the same.
  float limit() const {
    return std::isfinite(before) ? last + 0.5f * (last - before)
                                 : std::numeric_limits<float>::infinity();
  }
};

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void Noise::include(std::span<const float> x, std::span<const float> y) {
  HONE_ASSERT(x.size() == y.size(), "{} values became {}", x.size(), y.size());
  End top, bottom;
  for (const float value : y) {
    if (std::isnan(value)) continue;
    top.include(value);
    bottom.include(-value);
  }
  const float highest = top.limit(), lowest = -bottom.limit();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || std::isnan(y[i])) continue;
    const double value = x[i], error = static_cast<double>(y[i]) - value;
    ++count;
    signal += value * value;
    noise += error * error;
    sum += value;
    flushed += x[i] != 0 && y[i] == 0;
    clipped += x[i] > highest || x[i] < lowest;
    const float magnitude = std::fabs(y[i]);
    if (magnitude != 0 && (smallest_step == 0 || magnitude < smallest_step))
      smallest_step = magnitude;
  }
}

double Noise::snr_db() const {
  if (signal == 0) return std::numeric_limits<double>::quiet_NaN();
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

double Noise::standard_deviation() const {
  if (count == 0) return 0;
  const double n = static_cast<double>(count), mean = sum / n;
  return std::sqrt(std::max(0.0, signal / n - mean * mean));
}

double Noise::flushed_share() const { return share_of(flushed, count); }
double Noise::clipped_share() const { return share_of(clipped, count); }

}  // namespace hone
