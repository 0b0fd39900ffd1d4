#include "hone/formats/least_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLongest = 2;         // see the header
constexpr double kShortest = 0x1p-60;  // for formats that never clip
constexpr double kClose = 1.25;        // times the least error: scaling may still make it the least
constexpr int kMostScalings = 8;
constexpr std::size_t kFirstPoints = 256;  // enough to reject most ranges

// Values sorted by their possible error, largest first, so that bad ranges are rejected early.
struct Points {
  std::vector<float> values;
  std::vector<double> weights;
};

Points points_of(const Observation::Summary& summary) {
  std::vector<std::size_t> order(summary.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto square = [&](std::size_t i) {
    return summary.weights[i] * summary.values[i] * static_cast<double>(summary.values[i]);
  };
  std::ranges::stable_sort(order, std::ranges::greater(), square);
  Points points;
  for (const std::size_t i : order) {
    points.values.push_back(summary.values[i]);
    points.weights.push_back(summary.weights[i]);
  }
  return points;
}

struct Range {
  double low = 0, high = 0;

  Range scaled(double by) const { return {by * low, by * high}; }
};

/// The result of rounding the points with a range.
struct Fit {
  double error = kInfinity;  // infinite: above the limit
  double xy = 0, yy = 0;     // sums of x y and of y y, with y the rounded value of x
  std::vector<Tensor> state = {};
};

bool same_state(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& one, const Tensor& other) {
    return std::ranges::equal(one.values<float>(), other.values<float>());
  });
}

class Search {
 public:
  Search(const Format& format, const Observation& seen)
      : format_(format),
        defs_(states_of(format)),
        seen_(seen),
        all_{seen.minimum(), seen.maximum()},
        bits_(std::min(format.def->layout(format, {1}).element_bits, 16)),
        points_(points_of(seen.summary(std::ldexp(seen.magnitude(), -bits_)))),
        in_pieces_(format.def->locality != nullptr &&
                   format.def->locality(format, 1) == Locality::element),
        rounded_(points_.values.size()) {
    for (std::size_t i = 0; i < points_.values.size(); ++i)
      squares_ += points_.weights[i] * points_.values[i] * static_cast<double>(points_.values[i]);
    best_ = fit(all_, kInfinity);
  }

  std::vector<Tensor> run() {
    if (same_state(state_of(all_.scaled(kLongest)), state_of(all_.scaled(1 / kLongest))))
      return best_.state;  // the state does not depend on the range
    const double step = std::clamp(std::ldexp(1.0, -bits_ - 2), 0x1p-11, 0x1p-6);
    const bool apart = uses_both_extremes();
    std::int64_t zero = apart ? std::llround(-all_.low / (all_.high - all_.low) * codes()) : 0;
    std::vector<Tensor> last;
    for (double length = kLongest; length > kShortest; length *= 1 - step) {
      if (apart && length < 1) zero = best_zero(length, zero);
      const Range range = apart ? on_grid(length, zero) : all_.scaled(length);
      std::vector<Tensor> state = state_of(range);
      if (same_state(state, last)) continue;
      last = state;
      try_range(range);
      if (length < 1 && cut_off(state) > 2 * best_.error) break;
    }
    return best_.state;
  }

 private:
  std::vector<Tensor> state_of(const Range& range) const {
    return format_.def->calibrate(
        format_, seen_.with_range(static_cast<float>(range.low), static_cast<float>(range.high)));
  }

  // Writes to `rounded_`.
  void round(const std::vector<Tensor>& row, std::size_t begin, std::size_t end) {
    const std::span<const float> x = std::span(points_.values).subspan(begin, end - begin);
    format_.def->quantize({format_, {std::ssize(x)}, x, row}, pool_,
                          std::span(rounded_).subspan(begin, end - begin));
  }

  Fit fit(const Range& range, double limit) {
    Fit fit{.error = 0, .state = state_of(range)};
    const std::vector<Tensor> row = stacked(defs_, {fit.state});
    const std::size_t count = points_.values.size();
    std::size_t begin = 0, piece = in_pieces_ ? kFirstPoints : count;
    for (; begin < count && fit.error <= limit; begin += piece, piece *= 2) {
      const std::size_t end = std::min(count, begin + piece);
      round(row, begin, end);
      for (std::size_t i = begin; i < end; ++i) {
        const double x = points_.values[i], y = rounded_[i], weight = points_.weights[i];
        fit.error += weight * (x - y) * (x - y);
        fit.xy += weight * x * y;
        fit.yy += weight * y * y;
      }
    }
    if (fit.error > limit) fit.error = kInfinity;
    return fit;
  }

  // Keeps the range if it is the best. Then rescales it to the least-squares solution for its codes while these change.
  void try_range(Range range) {
    for (int i = 0; i < kMostScalings; ++i) {
      const Fit found = fit(range, kClose * best_.error);
      if (found.error < best_.error) best_ = found;
      if (!std::isfinite(found.error) || found.yy <= 0) return;
      const double scale = found.xy / found.yy;
      const bool promises = squares_ - found.xy * scale < best_.error * (1 - 1e-9);
      if (!promises || !(scale > 0)) return;
      range = range.scaled(scale);
    }
  }

  bool uses_both_extremes() const {
    const std::vector<Tensor> state = state_of(all_);
    return all_.low < 0 && all_.high > 0 &&
           !same_state(state, state_of({all_.low / 2, all_.high})) &&
           !same_state(state, state_of({all_.low, all_.high / 2}));
  }

  double codes() const { return std::ldexp(1.0, bits_) - 1; }

  // Returns a range `length` times as long as the observed one, with `zero` steps of the grid below 0.
  Range on_grid(double length, std::int64_t zero) const {
    const double step = length * (all_.high - all_.low) / codes();
    return {-static_cast<double>(zero) * step, (codes() - static_cast<double>(zero)) * step};
  }

  // The error has a single minimum, close to that of a similar length.
  std::int64_t best_zero(double length, std::int64_t zero) {
    double error = fit(on_grid(length, zero), kInfinity).error;
    for (const std::int64_t way : {1, -1}) {
      for (;;) {
        const std::int64_t next = zero + way;
        if (next < 0 || static_cast<double>(next) > codes()) break;
        const double other = fit(on_grid(length, next), error).error;
        if (other >= error) break;
        error = other;
        zero = next;
      }
    }
    return zero;
  }

  // Returns the squared error of the values outside the range of a state.
  double cut_off(const std::vector<Tensor>& state) {
    std::vector<float> ends = {seen_.minimum(), seen_.maximum()};
    const std::vector<float> x = ends;
    format_.def->quantize({format_, {2}, x, stacked(defs_, {state})}, pool_, ends);
    double error = 0;
    for (std::size_t i = 0; i < points_.values.size(); ++i) {
      const double value = points_.values[i];
      const double beyond = std::max({0.0, ends[0] - value, value - ends[1]});
      error += points_.weights[i] * beyond * beyond;
    }
    return error;
  }

  const Format& format_;
  std::vector<FormatStateDef> defs_;
  const Observation& seen_;
  Range all_;
  int bits_ = 0;
  Points points_;
  bool in_pieces_ = false;
  std::vector<float> rounded_;
  double squares_ = 0;  // of the points
  ThreadPool pool_{1};
  Fit best_;
};

}  // namespace

std::vector<Tensor> state_of_least_error(const Format& format, const Observation& seen) {
  if (seen.magnitude() == 0) return format.def->calibrate(format, seen);
  return Search(format, seen).run();
}

std::vector<Tensor> stacked(const std::vector<FormatStateDef>& defs,
                            const std::vector<std::vector<Tensor>>& groups) {
  std::vector<Tensor> stack;
  for (std::size_t s = 0; s < defs.size(); ++s) {
    if (!defs[s].per_row) {
      stack.push_back(groups[0][s]);
      continue;
    }
    Sizes sizes = defs[s].sizes;
    sizes.insert(sizes.begin(), static_cast<std::int64_t>(groups.size()));
    Tensor all = Tensor::empty(DType::f32, sizes);
    auto at = all.values<float>().begin();
    for (const std::vector<Tensor>& group : groups)
      at = std::ranges::copy(group[s].values<float>(), at).out;
    stack.push_back(all);
  }
  return stack;
}

}  // namespace hone
