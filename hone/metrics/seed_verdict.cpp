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

/// What the examples of all seeds say together: the mean halves of their intervals, mean flips and rates.
struct MeanOfSeeds {
  double below = 0, above = 0, flips = 0;
  DisagreementRates rates = {.assumed = true};  // until one disagrees
};

MeanOfSeeds mean_of(const std::vector<Comparison>& seeds) {
  MeanOfSeeds mean;
  const double count = static_cast<double>(seeds.size());
  for (const Comparison& c : seeds) {
    const Interval interval = accuracy_change_interval(c);
    const DisagreementRates rates = rates_seen(c);
    mean.below += (c.accuracy_change() - interval.low) / count;
    mean.above += (interval.high - c.accuracy_change()) / count;
    mean.flips += c.flip_share / count;
    mean.rates.lost += rates.lost / count;
    mean.rates.gained += rates.gained / count;
    mean.rates.assumed &= rates.assumed;
  }
  return mean;
}

std::string count_text(std::int64_t seeds) {
  return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
}

// How many seeds would tell, or how many texts where the half of theirs alone is as wide as what is to be told apart.
void plan_seeds(Verdict& v, const SeedSpread& s, const MeanOfSeeds& mean) {
  const double gap = std::abs(v.change + v.margin),
               half = v.change > -v.margin ? mean.below : mean.above;
  if (gap > half || gap == 0) {
    v.seeds_needed = planned_seeds(std::sqrt(gap * gap - half * half), *s.deviation);
    v.summary += plan_text(v.seeds_needed, v.change, v.margin, kMostSeeds, {.unit = " seeds"});
    return;
  }
  v.examples_needed = planned_examples(mean.rates, v.margin);
  v.summary +=
      "no number of seeds would tell on these texts; " +
      plan_text(v.examples_needed, v.change, v.margin, kMostExamples,
                {.unit = " different ones", .about = "at least about", .rates = mean.rates});
}

// By the mean, for other seeds and texts.
Verdict verdict_by_mean(const SeedChanges& changes, const SeedSpread& s, Verdict v) {
  const MeanOfSeeds mean = mean_of(changes.comparisons);
  v.grounds = Grounds::seeds_and_texts;
  v.change_interval = {std::max(-1.0, s.mean - std::hypot(s.mean - s.interval->low, mean.below)),
                       std::min(1.0, s.mean + std::hypot(s.interval->high - s.mean, mean.above))};
  const ChangeWords words = {.over = " on average over " + count_text(s.count),
                             .of = ", other seeds and texts"};
  const std::string flips = flips_text(mean.flips, " on average");
  const bool kept = v.change_interval->low >= -v.margin, lost = v.change_interval->high < -v.margin;
  if (kept || lost) {
    v.conclusion = kept ? Conclusion::kept : Conclusion::lost;
    v.summary = decided_text(v, /*differ=*/true, words) + flips;
    return v;
  }
  v.summary = fmt::format("cannot tell with {}: {}, margin {:.2f}{}; ", count_text(s.count),
                          change_text(v, words), 100 * v.margin, flips);
  plan_seeds(v, s, mean);
  return v;
}

// What every seed shows alone; unclear where one of them does not.
Conclusion shown_by_each(const std::vector<Comparison>& seeds, double margin) {
  const Conclusion first = verdict(seeds.front(), margin).conclusion;
  const auto as_first = [&](const Comparison& c) { return verdict(c, margin).conclusion == first; };
  return std::ranges::all_of(seeds, as_first) ? first : Conclusion::unclear;
}

// From the least to the greatest end of the seeds' intervals.
Interval hull_of(const std::vector<Comparison>& seeds) {
  Interval hull = accuracy_change_interval(seeds.front());
  for (const Comparison& c : seeds) {
    const Interval interval = accuracy_change_interval(c);
    hull = {std::min(hull.low, interval.low), std::max(hull.high, interval.high)};
  }
  return hull;
}

ChangeWords words_for_each(const SeedSpread& s) {
  ChangeWords words = {.of = ", these seeds on other texts"};
  if (s.count < kFewestSeeds) {
    words.over = " with " + count_text(s.count);
    for (const double change : s.values)
      words.figures += (words.figures.empty() ? "" : ", ") + points_text(change);
  } else {
    words.over = (s.interval ? " on average over " : " with each of ") + count_text(s.count);
  }
  return words;
}

// How many texts would let every one of them tell, whose changes are the same.
void plan_each(Verdict& v, const std::vector<Comparison>& seeds) {
  std::int64_t most = 0;
  DisagreementRates hardest;
  for (const Comparison& c : seeds) {
    const DisagreementRates rates = rates_seen(c);
    const std::int64_t planned = planned_examples(rates, v.margin).value_or(kMostExamples + 1);
    if (planned > most) hardest = rates;
    most = std::max(most, planned);
  }
  if (most <= kMostExamples) v.examples_needed = most;
  v.summary += plan_text(v.examples_needed, v.change, v.margin, kMostExamples,
                         {.unit = " different texts", .whom = "each of them", .rates = hardest});
}

// By each seed alone, for these seeds and other texts.
Verdict verdict_by_each(const SeedChanges& changes, const SeedSpread& s, Verdict v) {
  const std::vector<Comparison>& seeds = changes.comparisons;
  const bool few = s.count < kFewestSeeds;
  v.grounds = Grounds::each_seed;
  v.conclusion = shown_by_each(seeds, v.margin);
  if (!few) v.change_interval = hull_of(seeds);
  const ChangeWords words = words_for_each(s);
  const std::string flips = flips_text(mean_of(seeds).flips, " on average");
  if (v.conclusion != Conclusion::unclear) {
    const bool differ =
        std::ranges::all_of(seeds, [](const Comparison& c) { return c.mcnemar_p <= 0.05; });
    v.summary = decided_text(v, differ, words) + flips + "; shown by each seed alone" +
                (few ? ", for these seeds only" : "");
    return v;
  }
  v.summary =
      fmt::format("cannot tell with {}: {}, margin {:.2f}{}; ", count_text(s.count),
                  change_text(v, few ? ChangeWords{words.figures} : words), 100 * v.margin, flips);
  if (few) {
    v.seeds_needed = kFewestSeeds;
    v.summary += fmt::format("not every seed tells alone, and their mean takes {} of them at least",
                             kFewestSeeds);
  } else {
    plan_each(v, seeds);
  }
  return v;
}

}  // namespace

Verdict verdict_of_seeds(const SeedChanges& changes, double margin) {
  const SeedSpread s = change_spread(changes.before, changes.after);
  const Verdict v{
      .margin = margin, .change = s.mean, .p_value = std::numeric_limits<double>::quiet_NaN()};
  if (s.interval) {
    const Verdict mean = verdict_by_mean(changes, s, v);
    if (mean.conclusion != Conclusion::unclear ||
        shown_by_each(changes.comparisons, margin) == Conclusion::unclear)
      return mean;
  }
  return verdict_by_each(changes, s, v);
}

}  // namespace hone
