#include "hone/study/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/train/text_examples.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

Measurement measured(const Model& model, const EncodedSet& data) {
  return measure(model, data, /*batch_size=*/8, testing::quiet_context(), "measure");
}

TEST(Measure, CountsWhatTheLogitsGetRight) {
  const EncodedSet data = testing::tiny_texts(20);
  const Measurement result = measured(testing::tiny_model(), data);
  ASSERT_EQ(result.logits.size(), 40u);
  EXPECT_EQ(result.outputs, 2);
  EXPECT_GT(result.seconds, 0);
  std::int64_t right = 0;
  double loss = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const double margin = static_cast<double>(result.logits[2 * i + 1]) - result.logits[2 * i];
    right += (margin > 0) == (data.labels[i] == 1) ? 1 : 0;
    loss += std::log1p(std::exp(data.labels[i] == 1 ? -margin : margin)) / 20;
  }
  EXPECT_EQ(result.evaluation.classes()->correct, right);
  EXPECT_NEAR(result.evaluation.loss, loss, 1e-6);
}

TEST(Measure, SaysItInHuggingFacesWords) {
  const Measurement result = measured(testing::tiny_model(), testing::tiny_texts(20));
  const Json json = to_json(evaluation_result(result, {"odd", "even"}));
  EXPECT_EQ(json["eval_metric"], "accuracy");
  EXPECT_EQ(json["eval_accuracy"], result.evaluation.value);
  EXPECT_EQ(json["eval_baseline"], json["eval_majority_share"]);
  EXPECT_EQ(json["eval_loss"], result.evaluation.loss);
  const Evaluation& e = *result.evaluation.classes();
  EXPECT_EQ(json["eval_classes"]["odd"]["recall"], e.of_class[0].scores.recall);
  EXPECT_EQ(json["eval_classes"]["even"]["support"], e.of_class[1].support);
  EXPECT_EQ(json["eval_recall"], e.of_class[1].scores.recall);  // of class 1, as in scikit-learn
  EXPECT_EQ(json["eval_f1_macro"], e.macro.f1);
  EXPECT_EQ(json["eval_auc"], e.auc.value);
  EXPECT_EQ(json["eval_auc_interval"][1], e.auc.interval.high);
  EXPECT_EQ(json["eval_confusion"],
            (Json{{e.count(0, 0), e.count(0, 1)}, {e.count(1, 0), e.count(1, 1)}}));
  EXPECT_EQ(json["eval_only_predicts"], Json("even")) << "the fresh model takes all for one class";
  EXPECT_EQ(json["eval_samples"], 20);
  EXPECT_EQ(json["eval_accuracy_interval"][0], result.evaluation.interval.low);
}

TEST(Measure, SaysNullWhereThereIsNoNumber) {
  EncodedSet one_class = testing::tiny_texts(4);
  one_class.labels.assign(4, 1);
  const Json json =
      to_json(evaluation_result(measured(testing::tiny_model(), one_class), {"odd", "even"}));
  EXPECT_TRUE(json["eval_classes"]["odd"]["recall"].is_null());
  EXPECT_TRUE(json["eval_auc"].is_null());
  EXPECT_EQ(json["eval_auc_interval"], Json({0, 1}));
}

TEST(Measure, ComparesModelsInJson) {
  const EncodedSet data = testing::tiny_texts(20);
  Model coarse = testing::tiny_model();
  testing::put_quantizers(coarse, "integer(width=8,frac=4)");
  const Measurement baseline = measured(testing::tiny_model(), data),
                    child = measured(coarse, data);
  const TaskComparison comparison = compare(baseline.view(), child.view(), truth_of(data));
  const Verdict said = verdict(comparison.change);
  const Json json = to_json(comparison_result(comparison, said));
  EXPECT_EQ(json["flips"], comparison.counted->flips);
  EXPECT_EQ(json["margin_snr_db"], comparison.snr_db);
  EXPECT_EQ(json["metric"], "accuracy");
  EXPECT_EQ(json["verdict"], "inconclusive");
  EXPECT_EQ(json["summary"], said.summary);
  EXPECT_EQ(json["margin"], 0.005);
  EXPECT_EQ(json["examples_needed"], *said.examples_needed);
  EXPECT_EQ(json["change_interval"][0], said.change_interval->low);
  // Without any difference the ratio is infinite, which JSON cannot represent.
  EXPECT_TRUE(to_json(comparison_result(compare(baseline.view(), baseline.view(), truth_of(data)),
                                        said))["margin_snr_db"]
                  .is_null());
}

/// Returns the JSON of a regression evaluation.
Json numbers_json(const std::vector<float>& given, const std::vector<float>& truth) {
  Measurement measured{.logits = given, .outputs = 1, .evaluation = {}, .seconds = 1};
  measured.evaluation = evaluate(measured.view(), {.task = Task::regression, .targets = truth});
  return to_json(evaluation_result(measured, {"stars"}));
}

TEST(Measure, SaysNumbersInTheirWords) {
  const Json json = numbers_json({1, 3, 3, 5}, {1, 2, 3, 6});
  EXPECT_EQ(json["eval_metric"], "r2");
  EXPECT_EQ(json["eval_loss"], 0.5);
  EXPECT_EQ(json["eval_outputs"]["stars"]["mae"], 0.5);
  EXPECT_EQ(json["eval_baseline"], 0);
  EXPECT_EQ(constant_baseline_text(json), "always predicting the mean scores 0.0%");
  EXPECT_EQ(metric_estimate(json).value, 1 - 2 / 14.0);
  EXPECT_FALSE(json.contains("eval_accuracy"));
  EXPECT_TRUE(json["eval_classes"].is_null());
  // The lower bound of an undefined metric is null.
  const Json same = numbers_json({1, 2}, {3, 3});
  EXPECT_TRUE(same["eval_r2"].is_null());
  EXPECT_TRUE(same["eval_r2_interval"][0].is_null());
}

TEST(Measure, SaysLabelsInTheirWords) {
  Measurement measured{.logits = {1, -1, 1, 1}, .outputs = 2, .evaluation = {}, .seconds = 1};
  const std::vector<float> truth = {1, 0, 0, 1};
  measured.evaluation = evaluate(measured.view(), {.task = Task::multi_label, .targets = truth});
  const Json json = to_json(evaluation_result(measured, {"rude", "threat"}));
  EXPECT_EQ(json["eval_metric"], "f1_micro");
  EXPECT_EQ(json["eval_f1_micro"], 0.8);
  EXPECT_EQ(json["eval_labels"]["rude"]["precision"], 0.5);
  EXPECT_EQ(json["eval_labels"]["threat"]["auc"], 1);
  EXPECT_EQ(json["eval_subset_accuracy"], 0.5);
}

}  // namespace
}  // namespace hone
