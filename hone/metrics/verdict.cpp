#include "hone/metrics/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/p_value.h"
#include "hone/metrics/seeds.h"

namespace hone {
namespace {

// One-sided, each way: together they are the 95 % interval.
constexpr double kLevel = 0.025;

// Hundredths of a share, with its sign; the sum takes the sign from a zero.
std::string points(double share) {
  return fmt::format("{:+.2f}", std::round(1e4 * share) / 100 + 0.0);
}

// "+0.02 points of accuracy (95 %: -0.10 to +0.14)"
std::string change_text(const Verdict& v, const std::string& over = "") {
  std::string text = fmt::format("{} points of accuracy{}", points(v.change), over);
  if (v.change_interval)
    text += fmt::format(" (95 %: {} to {})", points(v.change_interval->low),
                        points(v.change_interval->high));
  return text;
}

// A change that is shown to be none or one is called so, beside whether it is within the margin.
// `differ`: that the exact test, which asks for more where few predictions differ, sees a change too.
std::string decided_text(const Verdict& v, bool differ, const std::string& over = "") {
  const bool lost = v.conclusion == Conclusion::lost;
  const Interval& interval = *v.change_interval;
  if (!lost && differ && interval.low > 0) return "kept, and better: " + change_text(v, over);
  const char* word = lost ? "lost" : differ && interval.high < 0 ? "kept, though worse" : "kept";
  return fmt::format("{}: {}, {} the margin of {:.2f}", word, change_text(v, over),
                     lost ? "beyond" : "within", 100 * v.margin);
}

// "about": two significant digits, rounded up.
std::int64_t rounded_up(std::int64_t count) {
  std::int64_t unit = 1;
  while (count / unit >= 100) unit *= 10;
  return (count + unit - 1) / unit * unit;
}

/// How many examples or seeds would tell, and what they would show.
struct Plan {
  std::optional<std::int64_t> count;
  std::string text;
};

// Of what is needed if there is no true change and if it is the one seen, see `planned_examples`; `present` were there.
Plan plan_of(const Verdict& v, std::int64_t present, std::optional<std::int64_t> without_change,
             std::optional<std::int64_t> as_seen, const char* unit) {
  const bool none_fits = v.change_interval->low <= 0 && 0 <= v.change_interval->high;
  const auto text = [&](std::int64_t count, const char* shown, const char* truth) {
    return fmt::format("about {}{} would show it {} four times out of five if {}",
                       grouped(rounded_up(count)), unit, shown, truth);
  };
  if (none_fits && without_change && *without_change > present)
    return {without_change, text(*without_change, "kept", "there is no true change")};
  if (!as_seen)
    return {std::nullopt, "the change seen is the margin, and no number tells them apart"};
  return {as_seen, text(*as_seen, v.change > -v.margin ? "kept" : "lost",
                        "the true change is the one seen")};
}

Plan plan_of(const Verdict& v, const Comparison& c, double z) {
  const double n = c.evidence * static_cast<double>(c.examples),
               lost = c.evidence * static_cast<double>(c.only_parent),
               gained = c.evidence * static_cast<double>(c.only_candidate);
  const double half = (lost + gained + 0.5) / (n + 1) / 2;
  return plan_of(v, effective_examples(c.examples, c.evidence),
                 planned_examples({half, half}, v.margin, z),
                 planned_examples({lost / n, gained / n}, v.margin, z),
                 c.evidence < 1 ? " different texts" : "");
}

// Tango's score at a loss of the whole margin.
double score_at_margin(const Comparison& comparison, double margin) {
  return tango_score(comparison, std::max(-margin, -1.0));
}

std::string flips_text(double share, const char* over = "") {
  return share == 0 ? "; no prediction differs"
                    : fmt::format("; {:.2f} % flips{}", 100 * share, over);
}

/// What is tested: p-values of both claims, corrected where they are about one of several candidates, and the score that
/// the strictest of the tests asks for.
struct Tested {
  double kept_p = 1, lost_p = 1;
  double score = kNormal975;
  std::int64_t candidates = 1;
};

// "cannot tell with n = 400", "cannot tell among 4 by Holm's correction, though alone it would be kept, with n = 400"
std::string undecided_text(const Verdict& v, const Comparison& c) {
  const Interval& alone = *v.change_interval;
  const char* word = alone.low >= -v.margin ? "kept" : alone.high < -v.margin ? "lost" : nullptr;
  const std::string among =
      v.candidates > 1 && word != nullptr
          ? fmt::format(" among {} by Holm's correction, though alone it would be {},",
                        v.candidates, word)
          : "";
  return fmt::format("cannot tell{} with {}", among,
                     sample_size_text(c.examples, effective_examples(c.examples, c.evidence)));
}

Verdict verdict_by(const Comparison& c, double margin, const Tested& tested) {
  Verdict v{.margin = margin,
            .change_interval = accuracy_change_interval(c),
            .p_value = tested.kept_p,
            .candidates = tested.candidates};
  if (c.examples == 0) {
    v.summary = "cannot tell: there are no examples";
    return v;
  }
  v.change = c.accuracy_change();
  const std::string flips = flips_text(c.flips == 0 ? 0 : c.flip_share);
  if (tested.kept_p <= kLevel || tested.lost_p <= kLevel) {
    v.conclusion = tested.kept_p <= kLevel ? Conclusion::kept : Conclusion::lost;
    v.summary = decided_text(v, c.mcnemar_p <= 2 * kLevel) + flips;
    return v;
  }
  const Plan plan = plan_of(v, c, tested.score);
  v.examples_needed = plan.count;
  v.summary = fmt::format("{}: {}, margin {:.2f}{}; {}", undecided_text(v, c), change_text(v),
                          100 * margin, flips, plan.text);
  return v;
}

}  // namespace

std::string to_string(Conclusion conclusion) {
  if (conclusion == Conclusion::kept) return "kept";
  return conclusion == Conclusion::lost ? "lost" : "unclear";
}

Verdict verdict(const Comparison& comparison, double margin) {
  const double score = score_at_margin(comparison, margin);
  return verdict_by(comparison, margin,
                    {.kept_p = normal_tail(score), .lost_p = normal_tail(-score)});
}

std::vector<Verdict> verdicts_of_choice(std::span<const Comparison> candidates, double margin) {
  std::vector<double> kept, lost;
  for (const Comparison& candidate : candidates) {
    const double score = score_at_margin(candidate, margin);
    kept.push_back(normal_tail(score));
    lost.push_back(normal_tail(-score));
  }
  const std::vector<double> kept_p = holm_adjusted(kept), lost_p = holm_adjusted(lost);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double z = normal_above(kLevel / static_cast<double>(candidates.size()));
    verdicts.push_back(
        verdict_by(candidates[i], margin, {kept_p[i], lost_p[i], z, std::ssize(candidates)}));
  }
  return verdicts;
}

std::vector<Verdict> verdicts_in_sequence(std::span<const Comparison> candidates, double margin) {
  std::vector<Verdict> verdicts;
  bool going_on = true;
  for (const Comparison& candidate : candidates) {
    Verdict v = verdict(candidate, margin);
    if (!going_on && v.kept()) {
      v.conclusion = Conclusion::unclear;
      v.summary = "not tested, as the one before is not kept: " + change_text(v);
    }
    going_on = going_on && v.kept();
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z) {
  const double lost = rates.lost, gained = rates.gained, change = rates.change();
  if (change == -margin) return std::nullopt;
  // The likeliest share of lost examples under a change of -margin: the quadratic equation of `tango_score`, per example.
  const double null = std::max(-margin, -1.0), b = (2 - gained + lost) * null - gained - lost,
               d = -lost * null * (1 - null);
  const double q = (std::sqrt(std::max(0.0, b * b - 8 * d)) - b) / 4;
  const double null_variance = std::max(0.0, 2 * q + null * (1 - null)),
               variance = std::max(0.0, lost + gained - change * change);
  const double root =
      (z * std::sqrt(null_variance) + kNormal80 * std::sqrt(variance)) / (change + margin);
  constexpr double kBeyondAllData = 1e15;
  if (!(root * root < kBeyondAllData)) return std::nullopt;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(root * root)));
}

namespace {

// How many seeds tell a mean change that lies `gap` from the margin, four times out of five; the term behind makes up for
// Student's distribution (Guenther 1981, The American Statistician 35:243).
std::optional<std::int64_t> planned_seeds(double gap, double deviation) {
  const double root = (kNormal975 + kNormal80) * deviation / gap;
  const double seeds = std::ceil(root * root + kNormal975 * kNormal975 / 2);
  constexpr double kBeyondAllPatience = 1e6;
  if (!(seeds < kBeyondAllPatience)) return std::nullopt;
  return std::max(kFewestSeeds, static_cast<std::int64_t>(seeds));
}

// What the examples of all seeds say together: the mean halves of their intervals, and their mean rates.
struct MeanOfSeeds {
  double below = 0, above = 0, flips = 0;
  DisagreementRates rates;
};

MeanOfSeeds mean_of(const std::vector<Comparison>& seeds) {
  MeanOfSeeds mean;
  const double count = static_cast<double>(seeds.size());
  for (const Comparison& c : seeds) {
    const Interval interval = accuracy_change_interval(c);
    const double change = c.accuracy_change(), n = static_cast<double>(c.examples);
    mean.below += (change - interval.low) / count;
    mean.above += (interval.high - change) / count;
    mean.flips += c.flip_share / count;
    mean.rates.lost += static_cast<double>(c.only_parent) / n / count;
    mean.rates.gained += static_cast<double>(c.only_candidate) / n / count;
  }
  return mean;
}

// The part of a distance that is left for the seeds where the examples take one half of an interval for themselves.
double left_of(double distance, double half) {
  return std::sqrt(std::max(0.0, distance * distance - half * half));
}

// How many seeds would tell, or how many texts where the half of theirs alone is as wide as what is to be told apart.
void plan_seeds(Verdict& v, const SeedSpread& s, const MeanOfSeeds& mean) {
  const double change = v.change + v.margin, half = change > 0 ? mean.below : mean.above;
  const double without_change = left_of(v.margin, half), as_seen = left_of(change, half);
  if (without_change == 0 && as_seen == 0) {
    const double each = (mean.rates.lost + mean.rates.gained) / 2;
    v.examples_needed = planned_examples({each, each}, v.margin);
    v.summary += "no number of seeds would tell on these texts";
    if (v.examples_needed)
      v.summary +=
          fmt::format("; about {} different ones would show it kept if there is no true change",
                      grouped(rounded_up(*v.examples_needed)));
    return;
  }
  const auto planned = [&](double gap) {
    return gap > 0 ? planned_seeds(gap, *s.deviation) : std::nullopt;
  };
  const Plan plan = plan_of(v, s.count, planned(without_change), planned(as_seen), " seeds");
  v.seeds_needed = plan.count;
  v.summary += plan.text;
}

}  // namespace

Verdict verdict_of_seeds(const SeedChanges& changes, double margin) {
  const SeedSpread s = change_spread(changes.before, changes.after);
  Verdict v{
      .margin = margin, .change = s.mean, .p_value = std::numeric_limits<double>::quiet_NaN()};
  const std::string seeds = fmt::format("{} seed{}", s.count, s.count == 1 ? "" : "s");
  if (!s.interval) {
    const bool few = s.count < kFewestSeeds;
    if (few) v.seeds_needed = kFewestSeeds;
    std::string values;
    for (const double change : s.values) values += (values.empty() ? "" : ", ") + points(change);
    v.summary = fmt::format("cannot tell with {}: {} points of accuracy, margin {:.2f}; {}", seeds,
                            values, 100 * margin,
                            few ? fmt::format("it takes {} seeds at least", kFewestSeeds)
                                : "all change by the same, which says nothing of other seeds");
    return v;
  }
  const MeanOfSeeds mean = mean_of(changes.comparisons);
  v.change_interval = {std::max(-1.0, s.mean - std::hypot(s.mean - s.interval->low, mean.below)),
                       std::min(1.0, s.mean + std::hypot(s.interval->high - s.mean, mean.above))};
  const std::string flips = flips_text(mean.flips, " on average");
  const bool kept = v.change_interval->low >= -margin, lost = v.change_interval->high < -margin;
  if (kept || lost) {
    v.conclusion = kept ? Conclusion::kept : Conclusion::lost;
    v.summary = decided_text(v, /*differ=*/true, fmt::format(" on average over {}", seeds)) + flips;
    return v;
  }
  v.summary = fmt::format("cannot tell with {}: {}, margin {:.2f}{}; ", seeds,
                          change_text(v, " on average"), 100 * margin, flips);
  plan_seeds(v, s, mean);
  return v;
}

}  // namespace hone
