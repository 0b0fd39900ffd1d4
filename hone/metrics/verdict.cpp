#include "hone/metrics/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/p_value.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

/// The two one-sided tests of a verdict, which together match the 95% interval: p-values of both conclusions, corrected
/// for the number of candidates, and the score that the strictest test requires.
struct Tested {
  double kept_p = 1, lost_p = 1;
  double score = kNormal975;
  std::int64_t candidates = 1;
};

// Returns "inconclusive with n = 400 for the allowed drop of 0.50", or "inconclusive with n = 400 for the allowed drop
// of 0.50 after correction for 4 comparisons (uncorrected: within limit)".
std::string undecided_text(const Verdict& v, const MetricChange& c) {
  const Interval& alone = *v.change_interval;
  const bool within = alone.low >= -v.margin, exceeds = alone.high < -v.margin;
  const std::string unit = c.unit.empty() ? "" : " " + c.unit;
  std::string text =
      fmt::format("inconclusive with {}{} for {}",
                  sample_size_text(c.examples, effective_examples(c.examples, c.evidence)), unit,
                  limit_text(v.margin));
  if (v.candidates > 1 && (within || exceeds))
    text += fmt::format(" after correction for {} comparisons (uncorrected: {})", v.candidates,
                        to_string(within ? Conclusion::within_limit : Conclusion::exceeds_limit));
  return text;
}

Verdict verdict_by(const MetricChange& c, double margin, const Tested& tested) {
  Verdict v{.metric = c.metric,
            .margin = margin,
            .change_interval = c.interval,
            .p_value = tested.kept_p,
            .candidates = tested.candidates};
  v.change = c.change;
  if (c.examples == 0) {
    v.summary = fmt::format("inconclusive: there are no {}", c.unit.empty() ? "examples" : c.unit);
    return v;
  }
  if (std::isnan(c.change)) {
    v.summary = fmt::format("inconclusive: {} is not defined{}", c.metric.text, c.notes);
    return v;
  }
  if (tested.kept_p <= kVerdictLevel || tested.lost_p <= kVerdictLevel) {
    v.conclusion =
        tested.kept_p <= kVerdictLevel ? Conclusion::within_limit : Conclusion::exceeds_limit;
    v.summary = decided_text(v, c.differs) + c.notes;
    return v;
  }
  v.examples_needed = planned_texts(c, margin, tested.score);
  const bool worse = c.differs && c.interval && c.interval->high < 0;
  v.summary = fmt::format("{}{}, {}{}; {}", change_text(v), worse ? ", a significant drop" : "",
                          undecided_text(v, c), c.notes,
                          plan_text(v.examples_needed, v.change, margin,
                                    {.kind = c.evidence < 1 ? " different" : "",
                                     .unit = " " + (c.unit.empty() ? "examples" : c.unit),
                                     .condition = condition_text(c.plan)}));
  return v;
}

// Returns the score at a loss of the whole margin; 0, which shows nothing, if the change is not defined.
double score_at_margin(const MetricChange& c, double margin) {
  return std::isnan(c.change) ? 0 : c.score(-margin);
}

}  // namespace

std::span<const EnumName> enum_names(Conclusion) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(Conclusion::within_limit), "within limit"},
      {static_cast<int>(Conclusion::exceeds_limit), "exceeds limit"},
      {static_cast<int>(Conclusion::inconclusive), "inconclusive"}};
  return kWords;
}
std::string to_string(Conclusion conclusion) { return std::string(enum_name(conclusion)); }

std::span<const EnumName> enum_names(VerdictBasis) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(VerdictBasis::seeds_and_examples), "seeds_and_examples"},
      {static_cast<int>(VerdictBasis::each_seed), "each_seed"}};
  return kWords;
}
std::string to_string(VerdictBasis basis) { return std::string(enum_name(basis)); }

const Fields& fields_of(const Verdict*) {
  using V = Verdict;
  static const Fields fields = describe<V>(
      "verdict", "Whether a metric stays within the allowed drop.",
      field<&V::conclusion>(
          "verdict",
          "within limit: the whole interval of the change is above -margin (non-inferiority); "
          "exceeds limit: the whole interval is below; inconclusive: too few examples or seeds."),
      field<&V::metric>("metric", "The metric that is judged."),
      field<&V::margin>("margin", Unit::difference,
                        "Allowed drop; negative: the gain that is required."),
      field<&V::change>("change", Unit::difference,
                        "Metric minus that of the baseline, over seeds their mean; null: not "
                        "defined.")
          .or_null(),
      field<&V::change_interval>("change_interval", Unit::difference,
                                 "95% interval of the change, for this candidate only; null: not "
                                 "defined, or under five seeds."),
      field<&V::p_value>("p_value",
                         "One-sided, of a drop by the margin or more: within the limit is 0.025 at "
                         "most; null over seeds.")
          .or_null(),
      field<&V::candidates>("candidates",
                            "Number of candidates and gates the p-value is corrected for."),
      field<&V::basis>("grounds",
                       "Over seeds: seeds_and_examples (the mean over the seeds; for other seeds "
                       "and other examples) or each_seed (every seed separately; for these seeds "
                       "and other examples); null: one seed."),
      field<&V::examples_needed>(
          "examples_needed", Unit::examples,
          "About how many different examples would decide an inconclusive verdict four times out "
          "of five, if the true change equals the observed change; null: decided, or the change is "
          "too close "
          "to the limit (more than ten times the examples would be needed)."),
      field<&V::seeds_needed>("seeds_needed", Unit::seeds,
                              "The same in seeds; null: decided, or more seeds would not help."),
      omitted<&V::overruled_by>(), field<&V::summary>("summary", "The verdict as a clause."));
  return fields;
}

Verdict verdict(const Comparison& comparison, double margin) {
  return verdict(accuracy_change(comparison), margin);
}

Verdict verdict(const MetricChange& change, double margin) {
  const double score = score_at_margin(change, margin);
  return verdict_by(change, margin, {.kept_p = normal_tail(score), .lost_p = normal_tail(-score)});
}

std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> candidates, double margin) {
  return verdicts_of_choice(candidates, std::vector<double>(candidates.size(), margin));
}

std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> candidates,
                                        std::span<const double> margins) {
  HONE_ASSERT(candidates.size() == margins.size(), "{} changes, {} margins", candidates.size(),
              margins.size());
  std::vector<double> kept, lost;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double score = score_at_margin(candidates[i], margins[i]);
    kept.push_back(normal_tail(score));
    lost.push_back(normal_tail(-score));
  }
  const std::vector<double> kept_p = holm_adjusted(kept), lost_p = holm_adjusted(lost);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double z = normal_above(kVerdictLevel / static_cast<double>(candidates.size()));
    verdicts.push_back(
        verdict_by(candidates[i], margins[i], {kept_p[i], lost_p[i], z, std::ssize(candidates)}));
  }
  return verdicts;
}

Verdict verdict_of_evaluation(const MetricChange& change, std::int64_t evaluations, double margin) {
  if (evaluations == 1) return verdict(change, margin);
  const double score = score_at_margin(change, margin);
  const auto of_all = [&](double p) { return std::min(1.0, p * static_cast<double>(evaluations)); };
  return verdict_by(change, margin,
                    {.kept_p = of_all(normal_tail(score)),
                     .lost_p = of_all(normal_tail(-score)),
                     .score = normal_above(kVerdictLevel / static_cast<double>(evaluations)),
                     .candidates = evaluations});
}

Verdict overruled(Verdict verdict, const std::string& why) {
  verdict.conclusion = Conclusion::inconclusive;
  verdict.overruled_by = why;
  verdict.summary = fmt::format("{}, but {}", change_text(verdict), why);
  return verdict;
}

std::vector<Verdict> verdicts_in_sequence(std::span<const MetricChange> candidates, double margin) {
  std::vector<Verdict> verdicts;
  bool all_within_limit = true;
  for (const MetricChange& candidate : candidates) {
    Verdict v = verdict(candidate, margin);
    if (!all_within_limit && v.within_limit())
      v = overruled(v, "it is not tested, as the candidate before it is not within the limit");
    all_within_limit = all_within_limit && v.within_limit();
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

}  // namespace hone
