#include "hone/jobs/pipeline/pipeline_statements.h"

#include <gtest/gtest.h>

// What a pipeline's report says of what its stages have found, without running any.
namespace hone {
namespace {

constexpr const char* kWidths = R"toml(
[settings]
epochs = 3
[stage.qat]
each = [{ width = 4 }, { width = 8 }, { width = 16 }]
run = "quantize"
[stage.against]
each = [{ width = 4 }, { width = 8 }, { width = 16 }]
run = "compare"
A = "a"
B = "b"
[pick.narrowest]
stages = "qat"
lowest = "width"
where = ["comparison.change_interval.1 >= 0", "after.eval_accuracy >= width/100"]
[pick.none]
stages = "qat"
highest = "after.eval_accuracy"
where = "after.eval_accuracy >= 2"
[claim.better]
says = "b is better"
stage = "against"
[claim.low]
says = "the narrowest has less than 0.9"
stage = "narrowest"
y = "after.eval_accuracy"
below = 0.9
found = "{narrowest.width} bits reach {narrowest.after.eval_accuracy:value}"
[[answer]]
says = "{narrowest.width} bits reach {narrowest.after.eval_accuracy} after {epochs} epochs, {{here}}"
[[answer]]
says = "{none.after.eval_accuracy}"
[[why]]
claim = "better"
reproduced = "{qat/4.after.eval_accuracy:value}, {qat/8.comparison.change}"
[[why]]
claim = "better"
contradicted = "never said"
)toml";

struct Widths {
  Pipeline pipeline = parse_pipeline(kWidths, "widths.toml", {{"compare", {.compares = true}}}, {});
  std::vector<StageOutcome> outcomes = {};
  StageStudies studies = {};
  fs::path folder = "nowhere";

  Widths() {
    for (const PipelineStage& stage : pipeline.stages)
      outcomes.push_back({.stands_for = stage.name});
    prints("qat/4", accuracy(0.75, -0.125, -0.0625));
    prints("qat/8", accuracy(0.84375, -0.015625, 0.03125));
    prints("qat/16", accuracy(0.875, 0, 0.0625));
  }
  static Json accuracy(double value, double low, double high) {
    return {{"after",
             {{"eval_accuracy", value},
              {"eval_accuracy_interval", {value - 0.02, value + 0.02}},
              {"eval_samples", 2000}}},
            {"comparison", {{"change", (low + high) / 2}, {"change_interval", {low, high}}}}};
  }
  static Json compared(double low, double high, double p) {
    return {{"split", "test"},
            {"n", 2000},
            {"comparison",
             {{"change", (low + high) / 2}, {"change_interval", {low, high}}, {"mcnemar_p", p}}}};
  }
  void prints(const std::string& stage, Json result) {
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (pipeline.stages[i].name == stage) outcomes[i].result = std::move(result);
  }
  PipelineFindings findings() const { return {pipeline, outcomes, studies, folder}; }
  std::vector<ClaimResult> claims() const {
    std::vector<ClaimResult> judged;
    for (const PipelineClaim& claim : pipeline.claims) judged.push_back(judge(claim, findings()));
    return judged;
  }
};

TEST(PipelineStatements, NamesTheStageThatAPickStandsFor) {
  const Widths widths;
  // Four bits are shown to be worse, so that eight are the fewest.
  EXPECT_EQ(statement_texts(widths.pipeline.answer, widths.claims(), widths.findings()),
            (std::vector<std::string>{
                "8 bits reach 84.4% (95% CI 82.4 to 86.4) after 3 epochs, {here}"}));
  EXPECT_EQ(stage_of({.pick = 1}, widths.findings()), std::nullopt);
}

TEST(PipelineStatements, SaysWhatTheConclusionOfItsClaimIs) {
  Widths widths;
  EXPECT_TRUE(statement_texts(widths.pipeline.why, widths.claims(), widths.findings()).empty());
  widths.prints("against/4", Widths::compared(0.01, 0.03, 0.001));
  widths.prints("against/8", Widths::compared(0.001, 0.02, 0.01));
  widths.prints("against/16", Widths::compared(-0.01, 0.02, 0.6));
  EXPECT_EQ(statement_texts(widths.pipeline.why, widths.claims(), widths.findings()),
            (std::vector<std::string>{"75.0%, +0.78 points (95% CI -1.56 to +3.13)"}));
}

TEST(PipelineClaims, CorrectForTheNumberOfComparisons) {
  Widths widths;
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::inconclusive);
  widths.prints("against/4", Widths::compared(0.001, 0.02, 0.03));  // 0.09 of three
  widths.prints("against/8", Widths::compared(-0.01, 0.02, 0.6));
  widths.prints("against/16", Widths::compared(-0.02, 0.02, 0.9));
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::inconclusive);
  widths.prints("against/4", Widths::compared(0.01, 0.03, 0.001));
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::inconclusive);  // one of three
  widths.prints("against/8", Widths::compared(0.01, 0.03, 0.001));
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::reproduced);
  EXPECT_EQ(widths.claims()[0].stage, "against");
  EXPECT_EQ(widths.claims()[0].change, std::nullopt);
  widths.prints("against/16", Widths::compared(-0.04, -0.02, 0.0001));
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::inconclusive);
  widths.prints("against/4", Widths::compared(-0.01, 0.03, 0.4));
  widths.prints("against/8", Widths::compared(-0.04, -0.02, 0.0001));
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::contradicted);
}

TEST(PipelineClaims, HoldForAValueWithAllOfItsInterval) {
  Widths widths;
  EXPECT_EQ(widths.claims()[1].conclusion, ClaimConclusion::reproduced);
  EXPECT_EQ(widths.claims()[1].sentence,
            "the narrowest has less than 0.9: reproduced: 8 bits reach 84.4%");
  widths.prints("qat/8", Widths::accuracy(0.89, -0.01, 0.01));
  EXPECT_EQ(widths.claims()[1].conclusion, ClaimConclusion::inconclusive);
  widths.prints("qat/8", Widths::accuracy(0.95, -0.01, 0.01));
  EXPECT_EQ(widths.claims()[1].conclusion, ClaimConclusion::contradicted);
}

}  // namespace
}  // namespace hone
