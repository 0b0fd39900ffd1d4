#include "hone/jobs/diagnosis.h"

#include <gtest/gtest.h>

#include <set>

#include <cmath>

#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::biased_tiny_model;
using testing::choice_splits;
using testing::floats_of;
using testing::format_called;
using testing::quiet_context;

// Returns the change of accuracy on 1000 examples, of which only the baseline gets `lost` right and only the candidate
// `gained`.
MetricChange change(std::int64_t lost, std::int64_t gained) {
  Comparison c;
  c.examples = 1000;
  c.only_baseline = lost;
  c.only_candidate = gained;
  return accuracy_change(c);
}

// Also if the loss may be due to chance, because people want an explanation then, too.
TEST(WorthExplaining, IsALossOfHalfAPoint) {
  EXPECT_TRUE(worth_explaining(change(5, 0)));
  EXPECT_FALSE(worth_explaining(change(4, 0)));
  EXPECT_TRUE(worth_explaining(change(205, 200)));
  EXPECT_FALSE(worth_explaining(change(0, 500)));
}

// With steps of a half, weights of 0.2 and biases of 0.1 are mostly lost. Biases lose more (everything) but matter
// less.
struct Case {
  Model parent = biased_tiny_model(0.1f);
  CompressOptions options{
      .plan = plan_with_format(parent, format_called("integer(width=6,frac=1)")),
      .calibration = {.batch_size = 8, .batch_count = 1}};
  Measurement before = measured(parent);
  Diagnosis diagnosis = diagnose(parent, before, choice_splits(), options, quiet_context());

  static Measurement measured(const Model& model) {
    return measure(model, choice_splits().validation, /*batch_size=*/8, quiet_context(), "");
  }
};

const Case& coarse() {
  static const Case shared;
  return shared;
}

TEST(Diagnose, NamesTheNoisiestFirstAndBiasesLast) {
  const std::vector<Suggestion>& operands = coarse().diagnosis.operands;
  ASSERT_EQ(operands.size(), 14u * 3);
  EXPECT_EQ(operands.front().operand, Operand::weight);
  for (std::size_t i = 0; i < operands.size(); ++i)
    EXPECT_EQ(operands[i].operand == Operand::bias, i >= 14 * 2) << i;
  for (std::size_t i = 1; i < 14 * 2; ++i)
    EXPECT_LE(operands[i - 1].noise_before.snr_db(), operands[i].noise_before.snr_db()) << i;
  // By noise alone the biases would come first.
  EXPECT_EQ(operands.back().noise_before.snr_db(), 0);
  EXPECT_GT(operands.front().noise_before.snr_db(), 0);
}

TEST(Diagnose, CountsWhatBecomesZero) {
  for (const Suggestion& s : coarse().diagnosis.operands) {
    if (s.operand == Operand::input) continue;
    SCOPED_TRACE(s.layer);
    if (s.operand == Operand::bias) {
      EXPECT_EQ(s.noise_before.flushed_share(), 1);
      continue;
    }
    const std::vector<float> weight = floats_of(coarse().parent.parameters.at(s.layer + ".weight"));
    int flushed = 0;  // 1/4 is halfway between 0 and 1/2 and rounds to 0, the even multiple
    for (const float value : weight) flushed += value != 0 && std::fabs(value) <= 0.25f;
    EXPECT_DOUBLE_EQ(s.noise_before.flushed_share(), flushed / static_cast<double>(weight.size()));
    EXPECT_EQ(s.noise_before.smallest_step, 0.5f);
  }
}

TEST(Diagnose, FindsParametersThatKeepTheMargins) {
  const Model plain = compress(coarse().parent, choice_splits(), coarse().options, quiet_context());
  const Measurement after = Case::measured(plain);
  const ComparedModel& improved = *coarse().diagnosis.improved;
  const double lost = margin_snr_db(coarse().before.view(), after.view());
  EXPECT_GT(improved.comparison->snr_db, lost + 6);
  EXPECT_EQ(improved.average_weight_bits, 6);
  for (const Suggestion& s : coarse().diagnosis.operands) {
    EXPECT_LE(s.after["width"], 6);
    EXPECT_GE(s.noise_after.snr_db(), s.noise_before.snr_db()) << s.layer;
  }
}

TEST(Diagnose, TriesItsSuggestionsWhereChoicesAreMade) {
  EXPECT_EQ(coarse().diagnosis.split, "validation");
  EXPECT_EQ(coarse().diagnosis.improved->measurement.evaluation.examples, 40);
  EncodedSplits without = choice_splits();
  without.validation = {};
  EXPECT_FALSE(
      diagnose(coarse().parent, coarse().before, without, coarse().options, quiet_context())
          .improved);
}

TEST(Diagnose, WithoutBetterParametersLeavesTheNoisiestQuarterInFullPrecision) {
  const Model parent = biased_tiny_model(0.1f);
  const CompressOptions options{.plan = plan_with_format(parent, format_called("binary")),
                                .calibration = {.batch_size = 8, .batch_count = 1}};
  const Diagnosis diagnosis =
      diagnose(parent, coarse().before, choice_splits(), options, quiet_context());
  const Remedy& remedy = diagnosis.remedy;
  EXPECT_FALSE(remedy.better_parameters);
  std::set<std::pair<std::string, Operand>> freed;
  for (const auto& [layer, formats] : options.plan) {
    const auto left = std::ranges::find(remedy.plan, layer, [](const auto& l) { return l.first; });
    for (const Operand operand : {Operand::input, Operand::weight, Operand::bias})
      if (left == remedy.plan.end() || !left->second[operand]) freed.emplace(layer, operand);
  }
  ASSERT_EQ(freed.size(), 11u) << "of 14 layers' three operands a quarter, rounded up";
  for (std::size_t i = 0; i < freed.size(); ++i) {
    const Suggestion& noisy = diagnosis.operands[i];
    EXPECT_TRUE(freed.contains({noisy.layer, noisy.operand})) << noisy.layer;
  }
  // The recipe was also evaluated: it loses less than the whole plan.
  const Measurement after =
      Case::measured(compress(parent, choice_splits(), options, quiet_context()));
  EXPECT_GT(diagnosis.improved->comparison->snr_db,
            margin_snr_db(coarse().before.view(), after.view()));
}

TEST(Diagnose, KnowsNoRemedyForTheOnlyOperand) {
  CompressOptions options = coarse().options;
  options.plan = {{"classifier", LayerFormats{.weight = format_called("binary")}}};
  const Diagnosis diagnosis =
      diagnose(coarse().parent, coarse().before, choice_splits(), options, quiet_context());
  EXPECT_TRUE(diagnosis.remedy.plan.empty());
  EXPECT_FALSE(diagnosis.improved);
}

// A measurement on the same texts is reused, here one with margins of 0.
TEST(Diagnose, MeasuresTheParentOnceOnTheSameTexts) {
  EncodedSplits same = choice_splits();
  same.measured.facts.split = "validation";
  Measurement known = coarse().before;
  std::ranges::fill(known.logits, 0.0f);
  const auto margin = [&](const EncodedSplits& data) {
    return diagnose(coarse().parent, known, data, coarse().options, quiet_context())
        .improved->comparison->snr_db;
  };
  EXPECT_EQ(margin(same), -std::numeric_limits<double>::infinity());
  EXPECT_GT(margin(choice_splits()), 0);
}

TEST(DiagnosisTable, HasNoHeaderTwice) {
  const Table table = diagnosis_table(coarse().diagnosis, 100, 3);
  std::set<std::string> headers;
  for (const Column& column : table.columns())
    EXPECT_TRUE(headers.insert(column.header).second) << column.header;
}

TEST(DiagnosisTable, ShowsTheFirstOfThoseThatAreNoisy) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  EXPECT_EQ(diagnosis_table(coarse().diagnosis, kAll, 100).rows().size(), 14u * 3);
  EXPECT_EQ(diagnosis_table(coarse().diagnosis, kAll, 5).rows().size(), 5u);
  std::size_t noisy = 0;
  for (const Suggestion& s : coarse().diagnosis.operands) noisy += s.noise_before.snr_db() < 12;
  ASSERT_GT(noisy, 0u);
  ASSERT_LT(noisy, 14u * 3);
  EXPECT_EQ(diagnosis_table(coarse().diagnosis, 12, 100).rows().size(), noisy);
  const Json first = to_json(diagnosis_table(coarse().diagnosis, kAll, 1))[0];
  const Suggestion& expected = coarse().diagnosis.operands.front();
  EXPECT_EQ(first["layer"], expected.layer);
  EXPECT_EQ(first["operand"], "weight");
  EXPECT_EQ(first["snr_db"], expected.noise_before.snr_db());
  EXPECT_EQ(first["better"], to_string(expected.after));
  EXPECT_EQ(first["better_snr_db"], expected.noise_after.snr_db());
}

// Returns the row of a weight for which no format is better.
Json row_of(const std::vector<float>& values, const std::vector<float>& rounded,
            double most_snr_db) {
  Diagnosis diagnosis;
  Noise noise;
  noise.include(values, rounded);
  const Format format = format_called("bf16");
  diagnosis.operands = {{"layer", Operand::weight, format, format, noise, noise}};
  return to_json(diagnosis_table(diagnosis, most_snr_db, 1))[0];
}

// Trailing zeros count as digits.
TEST(DiagnosisTable, HasThreeDigitsOfStepAndSpread) {
  const Json row = row_of({1, 3}, {1, 2.5f}, 1e9);
  EXPECT_EQ(row["smallest_step"], "1.00");
  EXPECT_EQ(row["standard_deviation"], "1.00");
}

TEST(DiagnosisTable, SuggestsNothingWhereNothingIsBetter) {
  const Json row = row_of({1, 2}, {1, 2.5f}, 100);
  EXPECT_EQ(row["better"], nullptr);
  EXPECT_EQ(row["better_snr_db"], nullptr);
  EXPECT_EQ(row["clipped"], 0);
}

}  // namespace
}  // namespace hone
