#include "hone/search/engine/duplicates.h"

#include "hone/base/random.h"

namespace hone {
std::set<std::string> keys_of(const StudyView& view) {
  std::set<std::string> keys;
  for (const Trial* trial : view.trials)
    if (!trial->parameters.empty()) keys.insert(key_of(trial->parameters));
  return keys;
}

UntriedPoints untried_points(const SearchSpace& space, const std::set<std::string>& tried,
                             const Json& fixed, std::uint64_t seed, std::int64_t number) {
  UntriedPoints result;
  using Point = std::vector<TrialParameter>;
  const auto count = [&](const Point& point) {
    if (!tried.contains(key_of(point))) ++result.count;
    return true;
  };
  result.small = walk_points(space, count, kSmallSpace, fixed);
  if (!result.small) result.count = 0;
  if (result.count == 0) return result;
  std::uint64_t skip =
      RandomSequence(seed, stream_of(fmt::format("untried {}", number))).below(result.count);
  const auto take = [&](const Point& point) {
    if (tried.contains(key_of(point)) || skip-- > 0) return true;
    result.drawn = point;
    return false;
  };
  walk_points(space, take, kSmallSpace, fixed);
  return result;
}

}  // namespace hone
