#include "hone/metrics/seed_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/percentage.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

/// The mean halves of the intervals of all seeds.
struct MeanHalves {
  double below = 0, above = 0;
};

MeanHalves mean_halves(const std::vector<MetricChange>& seeds) {
  MeanHalves mean;
  const double count = static_cast<double>(seeds.size());
  for (const MetricChange& c : seeds) {
    mean.below += (c.change - c.interval->low) / count;
    mean.above += (c.interval->high - c.change) / count;
  }
  return mean;
}

std::string count_text(std::int64_t seeds) {
  return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
}

// Plans how many seeds would decide; or how many texts, if the half width from the examples alone is at least the gap.
void plan_seeds(Verdict& v, const SeedSpread& s, const MeanHalves& mean,
                const std::vector<MetricChange>& seeds) {
  const double gap = std::abs(v.change + v.margin),
               half = v.change > -v.margin ? mean.below : mean.above;
  if (gap > half || gap == 0 || falls_short(v.change, v.margin)) {
    if (!falls_short(v.change, v.margin))
      v.seeds_needed = planned_seeds(std::sqrt(gap * gap - half * half), *s.deviation);
    v.summary += plan_text(v.seeds_needed, v.change, v.margin, {.unit = " seeds"});
    return;
  }
  MetricChange seen = seeds.front();
  seen.change = v.change;
  seen.plan = mean_plan(seeds);
  v.examples_needed = planned_texts(seen, v.margin);
  v.summary += "no number of seeds is sufficient on these examples; " +
               plan_text(v.examples_needed, v.change, v.margin,
                         {.kind = " different",
                          .about = "at least about",
                          .condition = condition_text(seen.plan)});
}

// Judges the mean, for other seeds and texts.
Verdict verdict_by_mean(const SeedChanges& changes, const SeedSpread& s, Verdict v) {
  const MeanHalves mean = mean_halves(changes.changes);
  v.basis = VerdictBasis::seeds_and_examples;
  const double least =
      changes.metric().may_be_negative ? -std::numeric_limits<double>::infinity() : -1;
  v.change_interval = {std::max(least, s.mean - std::hypot(s.mean - s.interval->low, mean.below)),
                       s.mean + std::hypot(s.interval->high - s.mean, mean.above)};
  if (!changes.metric().may_be_negative)
    v.change_interval->high = std::min(1.0, v.change_interval->high);
  const ChangeTextOptions options = {.over = " on average over " + count_text(s.count),
                                     .of = " for other seeds and examples:"};
  const bool kept = v.change_interval->low >= -v.margin, lost = v.change_interval->high < -v.margin;
  if (kept || lost) {
    v.conclusion = kept ? Conclusion::within_limit : Conclusion::exceeds_limit;
    v.summary = decided_text(v, /*differ=*/true, options) + changes.notes;
    return v;
  }
  v.summary = fmt::format("{}, inconclusive with {} for {}{}; ", change_text(v, options),
                          count_text(s.count), limit_text(v.margin), changes.notes);
  plan_seeds(v, s, mean, changes.changes);
  return v;
}

// Returns what every seed shows alone; inconclusive if they do not agree.
Conclusion shown_by_each(const std::vector<MetricChange>& seeds, double margin) {
  const Conclusion first = verdict(seeds.front(), margin).conclusion;
  const auto as_first = [&](const MetricChange& c) {
    return verdict(c, margin).conclusion == first;
  };
  return std::ranges::all_of(seeds, as_first) ? first : Conclusion::inconclusive;
}

// Returns the interval from the smallest to the largest end of the seeds' intervals.
Interval hull_of(const std::vector<MetricChange>& seeds) {
  Interval hull = *seeds.front().interval;
  for (const MetricChange& c : seeds)
    hull = {std::min(hull.low, c.interval->low), std::max(hull.high, c.interval->high)};
  return hull;
}

ChangeTextOptions options_for_each(const SeedSpread& s) {
  ChangeTextOptions options = {.of = " for these seeds on other examples:"};
  if (s.count < kFewestSeeds) {
    options.over = " with " + count_text(s.count);
    for (const double change : s.values)
      options.values += (options.values.empty() ? "" : ", ") + points_text(change);
  } else {
    options.over = (s.interval ? " on average over " : " with each of ") + count_text(s.count);
  }
  return options;
}

// Plans how many texts would decide for every seed, if all have the same change.
void plan_each(Verdict& v, const std::vector<MetricChange>& seeds) {
  std::int64_t most = 0;
  const ChangePlan* hardest = &seeds.front().plan;
  for (const MetricChange& c : seeds) {
    const std::int64_t planned = planned_texts(c, v.margin).value_or(kMaxExamples + 1);
    if (planned > most) hardest = &c.plan;
    most = std::max(most, planned);
  }
  if (most <= kMaxExamples) v.examples_needed = most;
  v.summary += plan_text(
      v.examples_needed, v.change, v.margin,
      {.kind = " different", .subject = "each seed", .condition = condition_text(*hardest)});
}

// Judges each seed alone, for these seeds and other texts.
Verdict verdict_by_each(const SeedChanges& changes, const SeedSpread& s, Verdict v) {
  const std::vector<MetricChange>& seeds = changes.changes;
  const bool few = s.count < kFewestSeeds;
  v.basis = VerdictBasis::each_seed;
  v.conclusion = shown_by_each(seeds, v.margin);
  if (!few) v.change_interval = hull_of(seeds);
  const ChangeTextOptions options = options_for_each(s);
  if (v.conclusion != Conclusion::inconclusive) {
    const bool differ = std::ranges::all_of(seeds, [](const MetricChange& c) { return c.differs; });
    v.summary = decided_text(v, differ, options) + changes.notes + "; every seed shows it" +
                (few ? ", for these seeds only" : "");
    return v;
  }
  v.summary = fmt::format("{}, inconclusive with {} for {}{}; ",
                          change_text(v, few ? ChangeTextOptions{options.values} : options),
                          count_text(s.count), limit_text(v.margin), changes.notes);
  if (few) {
    v.seeds_needed = kFewestSeeds;
    v.summary +=
        fmt::format("not every seed shows it, and a mean needs at least {} seeds", kFewestSeeds);
  } else {
    plan_each(v, seeds);
  }
  return v;
}

}  // namespace

Verdict verdict_of_seeds(const SeedChanges& changes, double margin) {
  Verdict v{.metric = changes.metric(),
            .margin = margin,
            .p_value = std::numeric_limits<double>::quiet_NaN()};
  const auto undefined =
      std::ranges::count_if(changes.changes, [](const MetricChange& c) { return !c.interval; });
  if (undefined > 0) {
    v.change = std::numeric_limits<double>::quiet_NaN();
    v.summary = fmt::format("inconclusive: {} is not defined with {} of {} seeds", v.metric.text,
                            undefined, changes.changes.size());
    return v;
  }
  const SeedSpread s = change_spread(changes.metric(), changes.before, changes.after);
  v.change = s.mean;
  if (s.interval) {
    const Verdict mean = verdict_by_mean(changes, s, v);
    if (mean.conclusion != Conclusion::inconclusive ||
        shown_by_each(changes.changes, margin) == Conclusion::inconclusive)
      return mean;
  }
  return verdict_by_each(changes, s, v);
}

}  // namespace hone
