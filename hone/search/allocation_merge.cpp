#include "hone/search/allocation_merge.h"

#include <algorithm>
#include <limits>

namespace hone {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kNever = std::int64_t{1} << 62;  // above all sums

/// The points before, in order, each with one choice added; skips points that cannot improve the front.
struct Stream {
  const GroupChoice* choice = nullptr;
  std::size_t at = 0;          // index into the points before
  std::int64_t cost = kNever;  // of the sum at this index
};

/// Merges one stream per choice.
class StreamMerge {
 public:
  StreamMerge(const AllocationStates& before, const std::vector<GroupChoice>& choices,
              int piece_bits)
      : before_(before), piece_bits_(piece_bits) {
    for (const GroupChoice& choice : choices)
      streams_.push_back({&choice, 0, before.costs.front() + choice.cost});
  }

  AllocationStates run() {
    for (;;) {
      Stream* first = &streams_.front();
      for (Stream& stream : streams_)
        if (stream.cost < first->cost) first = &stream;
      if (first->cost == kNever) return std::move(after_);
      // Up to this cost only this stream needs to advance; at equal costs, the stream of the earlier choice does.
      std::int64_t until = kNever;
      for (const Stream& stream : streams_)
        if (&stream != first) until = std::min(until, stream.cost + (&stream > first ? 1 : 0));
      do advance(*first);
      while (first->cost < until);
    }
  }

 private:
  void advance(Stream& stream) {
    const double damage = before_.damages[stream.at] + stream.choice->damage;
    if (damage < least_) {
      keep(stream, damage);
      ++stream.at;
    } else {
      skip(stream);
    }
    stream.cost =
        stream.at < before_.costs.size() ? before_.costs[stream.at] + stream.choice->cost : kNever;
  }

  // Damages fall along a stream: skips to the first point below the current least damage, by galloping and bisection.
  void skip(Stream& stream) const {
    const std::vector<double>& damages = before_.damages;
    const auto is_lost = [&](double damage) { return damage + stream.choice->damage >= least_; };
    std::size_t reach = 1;
    while (stream.at + reach < damages.size() && is_lost(damages[stream.at + reach])) reach *= 2;
    const auto place = [&](std::size_t index) {
      return damages.begin() + static_cast<std::ptrdiff_t>(index);
    };
    stream.at = static_cast<std::size_t>(
        std::partition_point(place(stream.at + reach / 2 + 1),
                             place(std::min(stream.at + reach + 1, damages.size())), is_lost) -
        damages.begin());
  }

  void keep(const Stream& stream, double damage) {
    const std::int64_t piece = stream.cost >> piece_bits_;
    // The previous point of the interval has more damage, and about the same cost.
    if (piece == piece_) {
      after_.costs.pop_back();
      after_.damages.pop_back();
      after_.origins.pop_back();
    }
    after_.costs.push_back(stream.cost);
    after_.damages.push_back(damage);
    after_.origins.push_back(origin_of(stream.choice->option, stream.at));
    piece_ = piece;
    least_ = damage;
  }

  const AllocationStates& before_;
  int piece_bits_;
  std::vector<Stream> streams_;
  AllocationStates after_;
  std::int64_t piece_ = -1;
  double least_ = kInfinite;
};

}  // namespace

AllocationStates no_groups() { return {{0}, {OtherCosts{}}, {0}, {}}; }

AllocationStates merge(const AllocationStates& before, const std::vector<GroupChoice>& choices,
                       int piece_bits) {
  return StreamMerge(before, choices, piece_bits).run();
}

bool CostTable::suits(const AllocationStates& before, const std::vector<GroupChoice>& choices) {
  constexpr std::size_t kMostPerSum = 4;
  const std::int64_t span = before.costs.back() + choices.back().cost;
  return span < static_cast<std::int64_t>(kMostPerSum * before.costs.size() * choices.size());
}

AllocationStates CostTable::merge(const AllocationStates& before,
                                  const std::vector<GroupChoice>& choices) {
  const auto size = static_cast<std::size_t>(before.costs.back() + choices.back().cost) + 1;
  if (least_.size() < size) {
    least_.resize(size, kInfinite);
    from_.resize(size);
    kept_.costs.resize(size);
    kept_.damages.resize(size);
    kept_.origins.resize(size);
  }
  // Branchless, because it is hard to predict which sum is better.
  const std::int64_t* const costs = before.costs.data();
  const double* const damages = before.damages.data();
  const std::size_t sums = before.costs.size();
  for (const GroupChoice choice : choices) {
    double* const least_of = least_.data() + choice.cost;
    AllocationOrigin* const from = from_.data() + choice.cost;
    for (std::size_t i = 0; i < sums; ++i) {
      const double damage = damages[i] + choice.damage, known = least_of[costs[i]];
      const AllocationOrigin here = origin_of(choice.option, i), there = from[costs[i]];
      const AllocationOrigin better = damage < known ? ~AllocationOrigin{0} : 0;
      from[costs[i]] = (here & better) | (there & ~better);
      least_of[costs[i]] = std::min(known, damage);
    }
  }
  double least = kInfinite;
  std::size_t kept = 0;
  for (std::size_t cost = 0; cost < size; ++cost) {
    const double damage = least_[cost];
    least_[cost] = kInfinite;
    kept_.costs[kept] = static_cast<std::int64_t>(cost);
    kept_.damages[kept] = damage;
    kept_.origins[kept] = from_[cost];
    kept += damage < least ? 1 : 0;
    least = std::min(least, damage);
  }
  const auto end = static_cast<std::ptrdiff_t>(kept);
  return {{kept_.costs.begin(), kept_.costs.begin() + end},
          {},
          {kept_.damages.begin(), kept_.damages.begin() + end},
          {kept_.origins.begin(), kept_.origins.begin() + end}};
}

}  // namespace hone
