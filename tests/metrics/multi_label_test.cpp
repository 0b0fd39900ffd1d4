#include "hone/metrics/multi_label.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/metrics/verdict.h"
#include "tests/metrics/golden.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::golden_cases;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

MultiLabelEvaluation evaluated(const Floats& logits, const Floats& targets, std::int64_t labels,
                               const std::vector<std::int32_t>& texts = {}) {
  return evaluate_multi_label({logits, labels}, targets, texts);
}

void expect_figures(const PrecisionRecall& got, const Json& expected) {
  EXPECT_NEAR(got.precision, expected.at("precision").get<double>(), 1e-14);
  EXPECT_NEAR(got.recall, expected.at("recall").get<double>(), 1e-14);
  EXPECT_NEAR(got.f1, expected.at("f1").get<double>(), 1e-14);
}

TEST(EvaluateMultiLabel, AgreesWithScikitLearn) {
  for (const Json& golden : golden_cases("multi_label")) {
    const MultiLabelEvaluation e =
        evaluated(golden.at("logits").get<Floats>(), golden.at("targets").get<Floats>(),
                  golden.at("labels").get<std::int64_t>());
    EXPECT_NEAR(e.subset_accuracy, golden.at("subset_accuracy").get<double>(), 1e-14);
    EXPECT_NEAR(e.hamming_accuracy, golden.at("hamming_accuracy").get<double>(), 1e-14);
    EXPECT_NEAR(e.loss, golden.at("loss").get<double>(), 1e-13);
    expect_figures(e.micro, golden.at("micro"));
    expect_figures(e.macro, golden.at("macro"));
    expect_figures(e.weighted, golden.at("weighted"));
    expect_figures(e.samples, golden.at("samples"));
    EXPECT_NEAR(e.macro_auc, golden.at("macro_auc").get<double>(), 1e-14);
    for (std::size_t l = 0; l < e.auc_of_label.size(); ++l) {
      const Json& area = golden.at("auc_of_label")[l];
      if (area.is_null()) {
        EXPECT_TRUE(std::isnan(e.auc_of_label[l].value)) << l;
      } else {
        EXPECT_NEAR(e.auc_of_label[l].value, area.get<double>(), 1e-14) << l;
      }
    }
    const Json& baseline = golden.at("baseline");
    EXPECT_NEAR(e.constant_baseline.subset_accuracy, baseline.at("subset_accuracy").get<double>(),
                1e-14);
    EXPECT_NEAR(e.constant_baseline.hamming_accuracy, baseline.at("hamming_accuracy").get<double>(),
                1e-14);
    EXPECT_NEAR(e.constant_baseline.micro_f1, baseline.at("micro_f1").get<double>(), 1e-14);
  }
}

TEST(EvaluateMultiLabel, CountsWhatIsMeasuredByHand) {
  // Predictions 10 01 11, truth 10 11 00.
  const MultiLabelEvaluation e = evaluated({1, -1, -2, 0, 3, 1}, {1, 0, 1, 1, 0, 0}, 2);
  EXPECT_EQ(e.exact, 1);
  EXPECT_DOUBLE_EQ(e.subset_accuracy, 1.0 / 3);
  EXPECT_EQ(e.subset_accuracy_interval.low, wilson_interval(1, 3).low);
  EXPECT_DOUBLE_EQ(e.hamming_accuracy, 3.0 / 6);
  EXPECT_DOUBLE_EQ(e.micro.f1, 2 * 2 / 7.0);
  EXPECT_EQ(e.of_label[0].support, 2);
  EXPECT_EQ(e.of_label[0].predicted, 2);
  EXPECT_EQ(e.of_label[0].found, 1);
  EXPECT_EQ(e.of_label[1].scores.recall, 1);
  EXPECT_EQ(evaluated({1, -1, -2, 0, 3, 1}, {1, 0, 1, 1, 0, 0}, 2, {0, 0, 0}).evidence, 1.0 / 3);
}

TEST(EvaluateMultiLabel, SaysYesFromOneHalfOn) {
  EXPECT_TRUE(predicts_label(0));
  EXPECT_TRUE(predicts_label(-0.0f));
  EXPECT_FALSE(predicts_label(-1e-30f));
}

TEST(EvaluateMultiLabel, TakesRowsThatAreNoNumbersForNoPrediction) {
  const MultiLabelEvaluation e = evaluated({kNan, -1, 1, -1}, {0, 0, 1, 0}, 2);
  EXPECT_EQ(e.without_prediction, 1);
  EXPECT_EQ(e.exact, 1);
  EXPECT_EQ(e.hamming_accuracy, 0.5);
  EXPECT_TRUE(std::isnan(e.loss));
  EXPECT_EQ(concerns(e, {"a", "b"}),
            std::vector<std::string>{
                "1 of 2 examples have no prediction: the model's outputs are not finite"});
}

TEST(EvaluateMultiLabel, SaysWhatIsNeverPredicted) {
  EXPECT_EQ(concerns(evaluated({1, -1, 1, -1}, {1, 1, 0, 0}, 2), {"a", "b"}),
            std::vector<std::string>{"the model never predicts 'b' (n = 1)"});
  EXPECT_EQ(concerns(evaluated({-1, -1, -1, -1}, {1, 1, 0, 0}, 2), {"a", "b"}),
            std::vector<std::string>{"the model predicts no label for any of 2 examples"});
  EXPECT_TRUE(concerns(evaluated({-1, -1}, {0, 0}, 2), {"a", "b"}).empty());
}

TEST(EvaluateMultiLabel, OfNothingIsNan) {
  const MultiLabelEvaluation e = evaluated({}, {}, 3);
  for (const double figure : {e.subset_accuracy, e.hamming_accuracy, e.micro.f1, e.macro.f1, e.loss,
                              e.macro_auc, e.constant_baseline.micro_f1})
    EXPECT_TRUE(std::isnan(figure));
}

TEST(EvaluateMultiLabel, RefusesTargetsThatAreNeitherYesNorNo) {
  EXPECT_EQ(user_error_of([] {
              evaluated({1, 2, 3, 4}, {1, 0, 0, 0.5f}, 2);
            }),
            "targets: example 1 has 0.5 for label 1, expected 1 where it has the label and 0 where "
            "not; check the label columns");
}

TEST(CompareMultiLabel, IsTheDifferenceOfBothFigures) {
  const Json& golden = golden_cases("multi_label")[0];
  const Floats baseline = golden.at("logits").get<Floats>(),
               targets = golden.at("targets").get<Floats>();
  Floats candidate = baseline;
  for (std::size_t i = 0; i < candidate.size(); i += 7) candidate[i] = -candidate[i] - 0.5f;
  const MultiLabelComparison c = compare_multi_label({baseline, 6}, {candidate, 6}, targets);
  const MultiLabelEvaluation a = evaluated(baseline, targets, 6),
                             b = evaluated(candidate, targets, 6);
  EXPECT_NEAR(c.micro_f1.change, b.micro.f1 - a.micro.f1, 1e-15);
  EXPECT_NEAR(c.subset_accuracy.change, b.subset_accuracy - a.subset_accuracy, 1e-15);
  EXPECT_EQ(c.subset.both_right + c.subset.only_baseline, a.exact);
  EXPECT_EQ(c.subset.both_right + c.subset.only_candidate, b.exact);
  EXPECT_GT(c.flips, 0);
  EXPECT_EQ(c.flip_share, static_cast<double>(c.flips) / 240);
  EXPECT_TRUE(verdict(c.subset_accuracy).summary.find("subset accuracy changed by ") !=
              std::string::npos);
  EXPECT_TRUE(verdict(c.micro_f1).summary.find("micro F1 changed by ") != std::string::npos)
      << verdict(c.micro_f1).summary;
}

// A row with NaN predicts no label and is not right.
TEST(CompareMultiLabel, CountsRowsThatAreNoNumbersAsLost) {
  const Floats baseline = {1, -1, 1, -1, -1, 1}, candidate = {1, kNan, 1, -1, -1, 1},
               targets = {1, 0, 1, 0, 0, 1};
  const MultiLabelComparison c = compare_multi_label({baseline, 2}, {candidate, 2}, targets);
  EXPECT_EQ(c.subset.only_baseline, 1);
  EXPECT_EQ(c.flips, 2);
  EXPECT_NEAR(c.micro_f1.change, 4.0 / 5 - 1, 1e-15);
}

}  // namespace
}  // namespace hone
