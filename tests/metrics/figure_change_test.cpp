#include "hone/metrics/figure_change.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "hone/base/random.h"
#include "hone/metrics/multi_label.h"
#include "hone/metrics/regression.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict.h"
#include "tests/metrics/counted.h"

namespace hone {
namespace {

using Floats = std::vector<float>;

/// A population of which data sets are drawn, whose true change is known.
struct Population {
  virtual ~Population() = default;
  virtual double true_change() const = 0;
  /// Draws `count` texts; those of an even number stand `copies` times.
  virtual FigureChange draw(RandomSequence& random, std::int64_t count, int copies) const = 0;
};

/// The number of the text of each row.
std::vector<std::int32_t> rows_of(std::int64_t texts, int copies) {
  std::vector<std::int32_t> rows;
  for (std::int32_t text = 0; text < texts; ++text)
    rows.insert(rows.end(), text % 2 == 0 ? static_cast<std::size_t>(copies) : 1, text);
  return rows;
}

// y ~ N(0, 1); the parent says 0.8 y + 0.5 e, the candidate `shrink` times that and noise of its own.
struct Numbers : Population {
  double shrink, noise;
  Numbers(double s, double n) : shrink(s), noise(n) {}

  double true_change() const override {
    const double slope = 0.8 * shrink - 1, error = 0.5 * shrink;
    return (0.2 * 0.2 + 0.5 * 0.5) - (slope * slope + error * error + noise * noise);
  }
  FigureChange draw(RandomSequence& random, std::int64_t count, int copies) const override {
    Floats truth, parent, candidate;
    const std::vector<std::int32_t> texts = rows_of(count, copies);
    std::vector<std::array<float, 3>> drawn;
    for (std::int64_t i = 0; i < count; ++i) {
      const double y = random.normal(), a = 0.8 * y + 0.5 * random.normal();
      drawn.push_back({static_cast<float>(y), static_cast<float>(a),
                       static_cast<float>(shrink * a + noise * random.normal())});
    }
    for (const std::int32_t text : texts) {
      const auto& [y, a, b] = drawn[static_cast<std::size_t>(text)];
      truth.push_back(y);
      parent.push_back(a);
      candidate.push_back(b);
    }
    return compare_regression({parent, 1}, {candidate, 1}, truth, texts).r2;
  }
};

// Five labels that an example has or not together more often than alone, as are its errors.
struct Labels : Population {
  static constexpr std::array<double, 5> kThresholds = {-0.2, 0.5, 1.0, 1.5, 0.8};
  static constexpr double kYes = 1.2, kNo = -1.6;  // mean logits
  double shift, noise;
  Labels(double s, double n) : shift(s), noise(n) {}

  static double f1(double shift, double deviation) {
    double found = 0, both = 0;
    for (const double threshold : kThresholds) {
      const double share = normal_tail(threshold),
                   true_yes = share * normal_tail(-(kYes + shift) / deviation);
      found += true_yes;
      both += true_yes + (1 - share) * normal_tail(-(kNo + shift) / deviation) + share;
    }
    return 2 * found / both;
  }
  double true_change() const override { return f1(shift, std::hypot(1, noise)) - f1(0, 1); }
  FigureChange draw(RandomSequence& random, std::int64_t count, int copies) const override {
    Floats truth, parent, candidate;
    const std::vector<std::int32_t> texts = rows_of(count, copies);
    std::vector<std::array<std::array<float, 3>, 5>> drawn(static_cast<std::size_t>(count));
    const double half = std::sqrt(0.5);
    for (auto& example : drawn) {
      const double common = random.normal(), common_error = random.normal();
      for (std::size_t l = 0; l < 5; ++l) {
        const bool has = half * (common + random.normal()) > kThresholds[l];
        const double x = (has ? kYes : kNo) + half * (common_error + random.normal());
        example[l] = {has ? 1.0f : 0.0f, static_cast<float>(x),
                      static_cast<float>(x + shift + noise * random.normal())};
      }
    }
    for (const std::int32_t text : texts) {
      for (const auto& [y, a, b] : drawn[static_cast<std::size_t>(text)]) {
        truth.push_back(y);
        parent.push_back(a);
        candidate.push_back(b);
      }
    }
    return compare_multi_label({parent, 5}, {candidate, 5}, truth, texts).micro_f1;
  }
};

/// The share of 500 data sets whose interval covers the true change.
double coverage(const Population& population, std::int64_t count, int copies) {
  RandomSequence random(5, stream_of("coverage"));
  constexpr int kDraws = 500;
  int covered = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const FigureChange change = population.draw(random, count, copies);
    covered += change.interval->low <= population.true_change() &&
               population.true_change() <= change.interval->high;
  }
  return covered / double{kDraws};
}

// 500 draws tell a coverage to 1 point.
void expect_coverage(const Population& population, double low, double high) {
  for (const std::int64_t count : {200, 1000}) {
    for (const int copies : {1, 4}) {
      const double share = coverage(population, count, copies);
      EXPECT_GE(share, low) << count << " texts, half of them " << copies << " times";
      EXPECT_LE(share, high) << count << " texts, half of them " << copies << " times";
    }
  }
}

TEST(LongPairedChange, OfR2CoversTheTrueOneNineteenTimesOfTwenty) {
  expect_coverage(Numbers(0.97, 0.15), 0.92, 0.98);
  expect_coverage(Numbers(1.0, 0.02), 0.92, 0.98);
}

TEST(LongPairedChange, OfMicroF1CoversTheTrueOneNineteenTimesOfTwenty) {
  expect_coverage(Labels(-0.1, 0.5), 0.92, 0.98);
  expect_coverage(Labels(0, 0.15), 0.92, 0.98);
}

// Where answers hardly differ the interval may be too wide, never too narrow.
TEST(LongPairedChange, OfFewAnswersThatDifferCoversTheTrueOneToo) {
  expect_coverage(Labels(0, 0.02), 0.92, 1);
}

}  // namespace
}  // namespace hone
