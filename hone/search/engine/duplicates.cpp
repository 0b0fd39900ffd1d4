#include "hone/search/engine/duplicates.h"

#include <algorithm>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

namespace hone {
namespace {

using Point = std::vector<TrialParameter>;

// Goes through the points of a finite space, in order, as long as `visit` wants another one. `budget` counts what is looked at, those
// that the space objects to included.
class PointWalk {
 public:
  PointWalk(const SearchSpace& space, const Json& fixed, FunctionRef<bool(const Point&)> visit)
      : space_(space), fixed_(fixed), visit_(visit) {}

  // False: there are more than `budget`.
  bool run(std::uint64_t budget) {
    left_ = budget;
    below(0);
    return !spent_;
  }

 private:
  // False: no more.
  bool below(std::size_t depth) {
    if (depth == space_.parameters.size()) {
      if (left_-- == 0) {
        spent_ = true;
        return false;
      }
      return (space_.objection && !space_.objection(values_).empty()) || visit_(point_);
    }
    const auto& [name, d, active] = space_.parameters[depth];
    if (active && !active(values_)) return below(depth + 1);
    for (std::uint64_t i = 0; i < *d.size(); ++i) {
      const double value =
          d.step ? d.low + static_cast<double>(i) * *d.step : d.low + static_cast<double>(i);
      const Json external = d.external(value);
      if (fixed_.contains(name) && d.internal(fixed_[name]) != value) continue;
      values_[name] = external;
      point_.push_back({name, d, value});
      const bool more = below(depth + 1);
      point_.pop_back();
      values_.erase(name);
      if (!more) return false;
    }
    return true;
  }

  const SearchSpace& space_;
  const Json& fixed_;
  FunctionRef<bool(const Point&)> visit_;
  Assignment values_;
  Point point_;
  std::uint64_t left_ = 0;
  bool spent_ = false;
};

}  // namespace

bool is_finite(const SearchSpace& space) {
  return std::all_of(space.parameters.begin(), space.parameters.end(),
                     [](const SpaceParameter& p) { return p.distribution.size().has_value(); });
}

std::set<std::string> keys_of(const StudyView& view) {
  std::set<std::string> keys;
  for (const Trial* trial : view.trials)
    if (!trial->parameters.empty()) keys.insert(key_of(trial->parameters));
  return keys;
}

UntriedPoints untried_points(const SearchSpace& space, const std::set<std::string>& tried,
                             const Json& fixed, std::uint64_t seed, std::int64_t number) {
  UntriedPoints result;
  const auto count = [&](const Point& point) {
    if (!tried.contains(key_of(point))) ++result.count;
    return true;
  };
  result.small = PointWalk(space, fixed, count).run(kSmallSpace);
  if (!result.small) result.count = 0;
  if (result.count == 0) return result;
  std::uint64_t skip =
      RandomSequence(seed, stream_of(fmt::format("untried {}", number))).below(result.count);
  const auto take = [&](const Point& point) {
    if (tried.contains(key_of(point)) || skip-- > 0) return true;
    result.drawn = point;
    return false;
  };
  PointWalk(space, fixed, take).run(kSmallSpace);
  return result;
}

}  // namespace hone
