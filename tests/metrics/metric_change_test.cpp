#include "hone/metrics/metric_change.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "hone/base/random.h"
#include "hone/metrics/multi_label.h"
#include "hone/metrics/regression.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict.h"
#include "tests/metrics/counted.h"

namespace hone {
namespace {

using Floats = std::vector<float>;

/// A population to draw datasets from, with known true change.
struct Population {
  double true_change = 0;
  /// Draws `count` texts. Texts with even numbers occur `copies` times.
  std::function<MetricChange(RandomSequence& random, std::int64_t count, int copies)> draw;
};

/// Returns the text number of each row.
std::vector<std::int32_t> rows_of(std::int64_t texts, int copies) {
  std::vector<std::int32_t> rows;
  for (std::int32_t text = 0; text < texts; ++text)
    rows.insert(rows.end(), text % 2 == 0 ? static_cast<std::size_t>(copies) : 1, text);
  return rows;
}

/// The values of one number or label.
struct Drawn {
  float truth = 0, baseline = 0, candidate = 0;
};

/// The true, baseline's and candidate's values of all rows. `of_text` has the values of each text.
struct Columns {
  Floats truth, baseline, candidate;
  Columns(const std::vector<std::vector<Drawn>>& of_text, const std::vector<std::int32_t>& rows) {
    for (const std::int32_t text : rows) {
      for (const Drawn& drawn : of_text[static_cast<std::size_t>(text)]) {
        truth.push_back(drawn.truth);
        baseline.push_back(drawn.baseline);
        candidate.push_back(drawn.candidate);
      }
    }
  }
};

Drawn as_floats(double truth, double baseline, double candidate) {
  return {static_cast<float>(truth), static_cast<float>(baseline), static_cast<float>(candidate)};
}

// y ~ N(0, 1). The baseline predicts 0.8 y + 0.5 e; the candidate adds its own noise to `shrink` times that.
Population numbers(double shrink, double noise) {
  const double slope = 0.8 * shrink - 1, error = 0.5 * shrink;
  return {0.2 * 0.2 + 0.5 * 0.5 - (slope * slope + error * error + noise * noise),
          [=](RandomSequence& random, std::int64_t count, int copies) {
            std::vector<std::vector<Drawn>> drawn;
            for (std::int64_t i = 0; i < count; ++i) {
              const double y = random.normal(), a = 0.8 * y + 0.5 * random.normal();
              drawn.push_back({as_floats(y, a, shrink * a + noise * random.normal())});
            }
            const std::vector<std::int32_t> rows = rows_of(count, copies);
            const Columns c(drawn, rows);
            return compare_regression({c.baseline, 1}, {c.candidate, 1}, c.truth, rows).r2;
          }};
}

// Five labels that are positively correlated, and so are the errors on them.
constexpr std::array<double, 5> kThresholds = {-0.2, 0.5, 1.0, 1.5, 0.8};
constexpr double kYes = 1.2, kNo = -1.6;  // mean logits

double micro_f1(double shift, double deviation) {
  double found = 0, both = 0;
  for (const double threshold : kThresholds) {
    const double share = normal_tail(threshold),
                 true_yes = share * normal_tail(-(kYes + shift) / deviation);
    found += true_yes;
    both += true_yes + (1 - share) * normal_tail(-(kNo + shift) / deviation) + share;
  }
  return 2 * found / both;
}

// The candidate's logits are the baseline's, shifted, plus noise.
Population labels(double shift, double noise) {
  return {micro_f1(shift, std::hypot(1, noise)) - micro_f1(0, 1),
          [=](RandomSequence& random, std::int64_t count, int copies) {
            const double half = std::sqrt(0.5);
            std::vector<std::vector<Drawn>> drawn(static_cast<std::size_t>(count));
            for (std::vector<Drawn>& example : drawn) {
              const double common = random.normal(), common_error = random.normal();
              for (const double threshold : kThresholds) {
                const bool has = half * (common + random.normal()) > threshold;
                const double x = (has ? kYes : kNo) + half * (common_error + random.normal());
                example.push_back(as_floats(has, x, x + shift + noise * random.normal()));
              }
            }
            const std::vector<std::int32_t> rows = rows_of(count, copies);
            const Columns c(drawn, rows);
            return compare_multi_label({c.baseline, 5}, {c.candidate, 5}, c.truth, rows).micro_f1;
          }};
}

struct Shares {
  double covered = 0, kept = 0, lost = 0;
};

/// Returns shares of 500 datasets: those whose interval covers the true change, and the verdicts if the true drop is
/// exactly `margin`.
Shares shares_of(const Population& population, std::int64_t count, int copies, double margin) {
  RandomSequence random(5, stream_of("coverage"));
  constexpr double kDraws = 500;
  Shares shares;
  for (int draw = 0; draw < static_cast<int>(kDraws); ++draw) {
    const MetricChange change = population.draw(random, count, copies);
    const bool covered = change.interval->low <= population.true_change &&
                         population.true_change <= change.interval->high;
    const Conclusion conclusion = verdict(change, margin).conclusion;
    shares.covered += covered / kDraws;
    shares.kept += (conclusion == Conclusion::within_limit) / kDraws;
    shares.lost += (conclusion == Conclusion::exceeds_limit) / kDraws;
  }
  return shares;
}

// 500 draws estimate a coverage of 95% to within 1 point, and a false verdict rate of 2.5% to within 0.7. With 6000
// draws these populations have coverages between 95.0 and 97.5%, and false verdict rates of one kind between 1.2 and
// 2.9%.
void expect_coverage(const Population& population, double low, double high) {
  for (const std::int64_t count : {200, 1000}) {
    for (const int copies : {1, 4}) {
      SCOPED_TRACE(fmt::format("{} texts, half of them {} times", count, copies));
      const Shares shares = shares_of(population, count, copies, -population.true_change);
      EXPECT_GE(shares.covered, low);
      EXPECT_LE(shares.covered, high);
      EXPECT_LE(shares.kept, 0.05);
      EXPECT_LE(shares.lost, 0.05);
    }
  }
}

TEST(LongPairedChange, OfR2CoversTheTrueOneNineteenTimesOfTwenty) {
  expect_coverage(numbers(0.97, 0.15), 0.92, 0.98);
  expect_coverage(numbers(1.0, 0.02), 0.92, 0.98);
}

TEST(LongPairedChange, OfMicroF1CoversTheTrueOneNineteenTimesOfTwenty) {
  expect_coverage(labels(-0.1, 0.5), 0.92, 0.98);
  expect_coverage(labels(0, 0.15), 0.92, 0.98);
}

// If few predictions differ, the interval may be too wide, but never too narrow.
TEST(LongPairedChange, OfFewAnswersThatDifferCoversTheTrueOneToo) {
  expect_coverage(labels(0, 0.02), 0.92, 1 + 1e-9);
}

// The planned number of texts has a power of 80%, within the rounding of a linear plan.
TEST(LongPairedChange, IsPlannedWithThePowerItPromises) {
  for (const Population& population : {numbers(0.97, 0.15), labels(-0.1, 0.3)}) {
    constexpr double kMargin = 0.05;
    RandomSequence random(9, stream_of("plan"));
    const MetricChange seen = population.draw(random, 40'000, 1);
    const std::int64_t needed = *planned_texts(seen.plan, seen.change, kMargin);
    EXPECT_GT(needed, 40);
    const Shares shares = shares_of(population, needed, 1, kMargin);
    EXPECT_NEAR(shares.kept, 0.8, 0.06) << needed;
  }
}

/// Returns the change if the first `differing` predictions are `shift` too high. The truth cycles through 0, 1, 2 and
/// 3.
MetricChange shifted(std::int64_t count, float shift, int differing) {
  Floats truth, baseline, candidate;
  for (std::int64_t i = 0; i < count; ++i) {
    truth.push_back(static_cast<float>(i % 4));
    baseline.push_back(truth.back() + (i % 2 == 0 ? 0.5f : -0.5f));
    candidate.push_back(baseline.back() + (i < differing ? shift : 0));
  }
  return compare_regression({baseline, 1}, {candidate, 1}, truth).r2;
}

TEST(PairedChange, FollowsTheFormula) {
  // Linearized terms of a ratio, by hand: Σ u² = 14, G = 4, K = 2.
  const std::vector<double> values = {1, -3, 2, 0};
  const std::vector<char> differ = {1, 0, 1, 0};
  const MetricChange change = paired_change(kMicroF1, 0.25, {values, differ, 1}, {});
  const double z2 = kNormal975 * kNormal975,
               half = student_975(3) * std::sqrt(4.0 / 3 * (14 + z2 * 14 / 2));
  EXPECT_NEAR(change.half_width, half, 1e-12);
  EXPECT_EQ(change.interval->low, -1) << "no share changes by more";
  EXPECT_EQ(change.interval->high, 1);
  EXPECT_NEAR(change.score(0.25 - half), kNormal975, 1e-12);
  EXPECT_NEAR(change.score(0.25 + half), -kNormal975, 1e-12);
  // Rows of one text are a single observation: 1 - 3, 2, 0.
  const std::vector<std::int32_t> texts = {0, 0, 1, 2};
  EXPECT_NEAR(paired_change(kMicroF1, 0.25, {values, differ, 1}, texts).half_width,
              student_975(2) * std::sqrt(3.0 / 2 * (8 + z2 * 8 / 2)), 1e-12);
}

// Two of a hundred texts contribute everything: Σ u² = Σ u⁴ = 2, with 2 · 2² / (2 - 2² / 100) = 4.08 degrees of
// freedom.
TEST(PairedChange, CountsFewDegreesOfFreedomWhereFewTextsAddMost) {
  std::vector<double> values(100);
  values[3] = 1;
  values[8] = -1;
  const std::vector<char> differ(100, 1);
  const double squares = 2 * (1 + kNormal975 * kNormal975 / 100);
  const auto half = [&](bool is_unequal) {
    return paired_change(kMicroF1, 0,
                         {.values = values, .differ = differ, .least = 1, .is_unequal = is_unequal},
                         {})
        .half_width;
  };
  EXPECT_NEAR(half(true), student_975(4) * std::sqrt(5.0 / 4 * squares), 1e-12);
  EXPECT_NEAR(half(false), student_975(99) * std::sqrt(100.0 / 99 * squares), 1e-12);
  // Equal contributions give at most the number of texts less one.
  for (double& value : values) value = &value < &values[50] ? 1 : -1;
  EXPECT_EQ(half(true), half(false));
}

// If equally many predictions are gained and lost, as rates go to 0.
TEST(PairedChange, HasTheWidthOfTangosInterval) {
  constexpr std::int64_t kCount = 100'000;
  for (const std::int64_t pairs : {0, 1, 3, 20}) {
    std::vector<double> values(kCount);
    std::vector<char> differ(kCount);
    for (std::int64_t i = 0; i < 2 * pairs; ++i) {
      values[static_cast<std::size_t>(i)] = (i % 2 == 0 ? 1.0 : -1.0) / kCount;
      differ[static_cast<std::size_t>(i)] = 1;
    }
    const Interval tango = accuracy_change_interval(testing::counted(kCount, pairs, pairs)),
                   paired =
                       *paired_change(kMicroF1, 0, {values, differ, 1.0 / kCount}, {}).interval;
    EXPECT_NEAR(paired.low / tango.low, 1, 1e-3) << pairs;
    EXPECT_NEAR(paired.high / tango.high, 1, 1e-3) << pairs;
  }
}

// A first loss does not narrow the interval: its lower end is below that without any difference.
TEST(PairedChange, DoesNotGrowSurerByAFirstLoss) {
  constexpr std::size_t kCount = 700, kLabels = 3;
  std::vector<float> truth(kCount * kLabels), logits;
  for (std::size_t i = 0; i < truth.size(); ++i) truth[i] = i % 4 == 0 ? 1 : 0;
  for (const float has : truth) logits.push_back(has == 1 ? 1.0f : -1.0f);
  std::vector<float> one_lost = logits, one_given = logits;
  one_lost[0] = -1;
  one_given[1] = 1;
  const auto change = [&](const std::vector<float>& candidate) {
    return compare_multi_label({logits, kLabels}, {candidate, kLabels}, truth).micro_f1;
  };
  const MetricChange none = change(logits);
  for (const MetricChange& first : {change(one_lost), change(one_given)}) {
    EXPECT_LT(first.change, 0);
    EXPECT_GE(first.half_width, none.half_width);
    EXPECT_LT(first.interval->low, none.interval->low);
  }
}

TEST(PairedChange, DoesNotGrowSurerByRepetition) {
  const Floats t = {1, 3, 4, 8, 2, 6}, a = {1, 2, 5, 6, 3, 7}, b = {2, 2, 5, 4, 3, 7};
  const MetricChange once = compare_regression({a, 1}, {b, 1}, t).r2,
                     none_once = compare_regression({a, 1}, {a, 1}, t).r2;
  Floats tt, aa, bb;
  std::vector<std::int32_t> texts;
  for (int copy = 0; copy < 3; ++copy) {
    tt.insert(tt.end(), t.begin(), t.end());
    aa.insert(aa.end(), a.begin(), a.end());
    bb.insert(bb.end(), b.begin(), b.end());
    for (std::int32_t i = 0; i < 6; ++i) texts.push_back(i);
  }
  const MetricChange thrice = compare_regression({aa, 1}, {bb, 1}, tt, texts).r2,
                     none_thrice = compare_regression({aa, 1}, {aa, 1}, tt, texts).r2;
  EXPECT_NEAR(thrice.interval->low, once.interval->low, 1e-12);
  EXPECT_NEAR(thrice.interval->high, once.interval->high, 1e-12);
  EXPECT_NEAR(none_thrice.interval->high, none_once.interval->high, 1e-12);
  EXPECT_EQ(planned_texts(thrice.plan, thrice.change, 0.01),
            planned_texts(once.plan, once.change, 0.01));
  EXPECT_GT(compare_regression({aa, 1}, {bb, 1}, tt).r2.interval->low, once.interval->low);
}

// If nothing differs, the interval is about that of Tango's score, z² / n.
TEST(PairedChange, TakesLackOfEvidenceForNothing) {
  const MetricChange none = shifted(1000, 0, 0);
  const double z2 = kNormal975 * kNormal975;
  EXPECT_EQ(none.change, 0);
  EXPECT_NEAR(none.interval->high, z2 / 1000, 3e-5);
  EXPECT_EQ(none.notes, "; no prediction changed");
  const Verdict few = verdict(shifted(36, 0, 0));
  EXPECT_EQ(few.conclusion, Conclusion::inconclusive);
  EXPECT_EQ(
      few.summary,
      "R² changed by +0.00 points (95% CI -11.21 to +11.21), inconclusive with n = 36 for the "
      "allowed drop of 0.50; no prediction changed; about 4,500 examples would show it to be "
      "within the limit (power 80%) if the true change is zero and one prediction in 74 changes "
      "(none was observed)");
  EXPECT_TRUE(verdict(none).within_limit());
}

TEST(PairedChange, IsJudgedByTheOneRule) {
  const Verdict kept = verdict(shifted(1000, 0.001f, 1000));
  EXPECT_EQ(kept.metric, kR2);
  EXPECT_EQ(kept.summary,
            "R² changed by +0.00 points (95% CI -0.01 to +0.00), within the allowed drop of 0.50; "
            "predictions changed by 0.001 on average");
  EXPECT_EQ(kept.p_value <= 0.025, kept.within_limit());
  const Verdict lost = verdict(shifted(1000, 0.3f, 1000));
  EXPECT_EQ(lost.summary,
            "R² changed by -7.20 points (95% CI -8.74 to -5.66), more than the allowed "
            "drop of 0.50; predictions changed by 0.3 on average");
  const Verdict unclear = verdict(shifted(40, 0.1f, 4));
  EXPECT_EQ(
      unclear.summary,
      "R² changed by -0.08 points (95% CI -1.23 to +1.07), inconclusive with n = 40 for the "
      "allowed drop of 0.50; predictions changed by 0.01 on average; about 340 examples would "
      "show it to be within the limit (power 80%) if the true change equals the observed change");
  EXPECT_GT(*unclear.examples_needed, 40);
}

TEST(PairedChange, IsChosenAmongSeveralByTheOneRule) {
  const MetricChange all[] = {shifted(1000, 0.001f, 1000), shifted(1000, 0.3f, 1000)};
  const std::vector<Verdict> verdicts = verdicts_of_choice(all);
  EXPECT_EQ(verdicts[0].conclusion, Conclusion::within_limit);
  EXPECT_EQ(verdicts[1].conclusion, Conclusion::exceeds_limit);
  EXPECT_EQ(verdicts[0].candidates, 2);
  EXPECT_GE(verdicts[0].p_value, verdict(all[0]).p_value);
  const MetricChange descending[] = {all[1], all[0]};
  EXPECT_EQ(verdicts_in_sequence(descending)[1].conclusion, Conclusion::inconclusive);
  EXPECT_TRUE(verdicts_in_sequence(descending)[1].summary.find("not tested") != std::string::npos);
}

// Judging the change and judging the counts give the same verdict.
TEST(AccuracyChange, IsJudgedAsItsComparison) {
  for (const int lost : {0, 3, 40, 90}) {
    const Comparison c = testing::counted(1000, lost, 20);
    const MetricChange change = accuracy_change(c);
    EXPECT_EQ(change.change, c.accuracy_change());
    EXPECT_EQ(change.interval->low, accuracy_change_interval(c).low);
    EXPECT_EQ(verdict(change).summary, verdict(c).summary);
    EXPECT_EQ(verdict(change).p_value, verdict(c).p_value);
  }
}

}  // namespace
}  // namespace hone
