#include "hone/jobs/shrink/shrink_timer.h"

#include <algorithm>
#include <numeric>

#include "hone/jobs/times_in_turn.h"
#include "hone/metrics/median.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kMostAtATime = 32, kRounds = kShrinkTimerRounds;
constexpr double kMostMs = 250;

}  // namespace

ShrinkTimer::ShrinkTimer(const Model& original, const EncodedSet& texts, const EncodedSet& own,
                         Context& context)
    : context_(context),
      original_bytes_(stored_bytes(original)),
      original_(forward_graph(original), original.parameters, context.session()) {
  one_ = batch(texts, 1);
  const auto median = [&](const NamedTensors& texts) {
    return median_of_sorted(runs_ms([&] { original_.rows(texts); }, kRounds));
  };
  const auto most = static_cast<std::int64_t>(kMostMs / std::max(median(one_), 1e-3));
  at_a_time_ = std::clamp<std::int64_t>(most, 1, std::min(kMostAtATime, texts.size()));
  some_ = batch(texts, at_a_time_);
  own_some_ = batch(own, at_a_time_);
  own_one_ = batch(own, 1);
  ms_ = median(some_) / static_cast<double>(at_a_time_);
}

NamedTensors ShrinkTimer::batch(const EncodedSet& set, std::int64_t count) const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return text_examples(set).batch(rows, 0);
}

double ShrinkTimer::share(const std::function<void()>& before,
                          const std::function<void()>& after) const {
  // As the speedup of the result: the median ratio of paired rounds.
  return 1 / time_in_turn(before, after, kRounds).speedup;
}

ShrinkShares ShrinkTimer::shares(const Model& model) {
  Predictor own(forward_graph(model), model.parameters, context_.session());
  return {.bytes = static_cast<double>(stored_bytes(model)) / static_cast<double>(original_bytes_),
          .time = share([&] { original_.rows(some_); }, [&] { own.rows(own_some_); }),
          .time_alone = share([&] { original_.rows(one_); }, [&] { own.rows(own_one_); })};
}

}  // namespace hone
