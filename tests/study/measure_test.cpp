#include "hone/study/measure.h"

#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_EQ(result.classes, 2);
  EXPECT_GT(result.seconds, 0);
  std::int64_t right = 0;
  double loss = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const double margin = static_cast<double>(result.logits[2 * i + 1]) - result.logits[2 * i];
    right += (margin > 0) == (data.labels[i] == 1) ? 1 : 0;
    loss += std::log1p(std::exp(data.labels[i] == 1 ? -margin : margin)) / 20;
  }
  EXPECT_EQ(result.evaluation.correct, right);
  EXPECT_NEAR(result.evaluation.loss, loss, 1e-6);
}

TEST(Measure, SaysItInHuggingFacesWords) {
  const Measurement result = measured(testing::tiny_model(), testing::tiny_texts(20));
  const Json json = to_json(result, {"odd", "even"});
  EXPECT_EQ(json["eval_accuracy"], result.evaluation.accuracy);
  EXPECT_EQ(json["eval_loss"], result.evaluation.loss);
  const Evaluation& e = result.evaluation;
  EXPECT_EQ(json["eval_classes"]["odd"]["recall"], e.of_class[0].figures.recall);
  EXPECT_EQ(json["eval_classes"]["even"]["support"], e.of_class[1].support);
  EXPECT_EQ(json["eval_recall"], e.of_class[1].figures.recall);  // of class 1, as scikit-learn
  EXPECT_EQ(json["eval_f1_macro"], e.macro.f1);
  EXPECT_EQ(json["eval_auc"], e.auc.value);
  EXPECT_EQ(json["eval_auc_interval"][1], e.auc.interval.high);
  EXPECT_EQ(json["eval_confusion"],
            (Json{{e.count(0, 0), e.count(0, 1)}, {e.count(1, 0), e.count(1, 1)}}));
  EXPECT_EQ(json["eval_only_predicts"], Json("even")) << "the fresh model takes all for one class";
  EXPECT_EQ(json["eval_samples"], 20);
  EXPECT_EQ(json["eval_accuracy_interval"][0], result.evaluation.accuracy_interval.low);
}

TEST(Measure, SaysNullWhereThereIsNoNumber) {
  EncodedSet one_class = testing::tiny_texts(4);
  one_class.labels.assign(4, 1);
  const Json json = to_json(measured(testing::tiny_model(), one_class), {"odd", "even"});
  EXPECT_TRUE(json["eval_classes"]["odd"]["recall"].is_null());
  EXPECT_TRUE(json["eval_auc"].is_null());
  EXPECT_EQ(json["eval_auc_interval"], Json({0, 1}));
}

TEST(Measure, ComparesModelsInJson) {
  const EncodedSet data = testing::tiny_texts(20);
  Model coarse = testing::tiny_model();
  testing::put_quantizers(coarse, "integer(width=8,frac=4)");
  const Measurement parent = measured(testing::tiny_model(), data), child = measured(coarse, data);
  const Comparison comparison = compare(parent.view(), child.view(), data.labels);
  const Verdict said = verdict(comparison);
  const Json json = to_json(comparison, said);
  EXPECT_EQ(json["flips"], comparison.flips);
  EXPECT_EQ(json["margin_snr_db"], comparison.margin_snr_db);
  EXPECT_EQ(json["verdict"], "unclear");
  EXPECT_EQ(json["summary"], said.summary);
  EXPECT_EQ(json["margin"], 0.005);
  EXPECT_EQ(json["examples_needed"], *said.examples_needed);
  EXPECT_EQ(json["accuracy_change_interval"][0], said.change_interval->low);
  EXPECT_EQ(gate_json(said)["passed"], false);
  // Nothing differs: the ratio is infinite, which JSON cannot say.
  EXPECT_TRUE(
      to_json(compare(parent.view(), parent.view(), data.labels), said)["margin_snr_db"].is_null());
}

}  // namespace
}  // namespace hone
