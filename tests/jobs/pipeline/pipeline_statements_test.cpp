#include "hone/jobs/pipeline/pipeline_statements.h"

#include <gtest/gtest.h>

#include "hone/jobs/pipeline/pipeline_values.h"
#include "tests/support/expect.h"

// Tests of the statements in a pipeline's report, for given results of stages.
namespace hone {
namespace {

constexpr const char* kWidthPipeline = R"toml(
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
[pick.ahead]
stages = "against"
lowest = "width"
where = "comparison.change_interval.0 >= 0"
significant = true
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
[[answer]]
says = ["{none.after.eval_accuracy} is high", "none of {none:count} is high", "never said"]
[[why]]
claim = "better"
reproduced = "{qat/4.after.eval_accuracy:value}, {qat/8.comparison.change}"
[[why]]
claim = "better"
contradicted = "never said"
)toml";

struct Widths {
  Pipeline pipeline =
      parse_pipeline(kWidthPipeline, "widths.toml", {{"compare", {.compares = true}}}, {});
  std::vector<StageOutcome> outcomes = {};
  StageStudies studies = {};
  fs::path folder = "nowhere";

  Widths() {
    for (const PipelineStage& stage : pipeline.stages)
      outcomes.push_back({.chosen_stage = stage.name});
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
  // Four bits are shown to be worse, so eight are the fewest.
  EXPECT_EQ(
      statement_texts(widths.pipeline.answer, widths.claims(), widths.findings()),
      (std::vector<std::string>{"8 bits reach 84.4% (95% CI 82.4 to 86.4) after 3 epochs, {here}",
                                "none of 0 of 3 is high"}));
  EXPECT_FALSE(source_of({.pick = 1}, widths.findings()));
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

TEST(PipelineValues, AreTheFirstTheHighestAndTheLastOfALog) {
  const TemporaryFolder stage;
  write_file(stage.path() / "training_log.jsonl",
             "{\"epoch\": 1, \"loss\": 0.5}\n{\"epoch\": 2, \"loss\": 0.75}\n"
             "{\"epoch\": 3, \"eval_loss\": 2}\n{\"epoch\": 3, \"loss\": 0.25}\n");
  EXPECT_EQ(estimate_of({}, stage.path(), "log.first.loss").value, 0.5);
  EXPECT_EQ(estimate_of({}, stage.path(), "log.highest.loss").value, 0.75);
  EXPECT_EQ(estimate_of({}, stage.path(), "log.last.loss").value, 0.25);
}

TEST(PipelinePicks, AreSignificantWithTheCorrectionThatClaimsHave) {
  Widths widths;
  const auto ahead = [&] {
    return count_of(widths.pipeline.picks[2], widths.findings()).fulfilling;
  };
  widths.prints("against/4", Widths::compared(0.001, 0.02, 0.03));  // 0.06 for two, 0.09 for three
  EXPECT_EQ(ahead(), 1);                                            // only one comparison so far
  widths.prints("against/8", Widths::compared(-0.01, 0.02, 0.6));
  EXPECT_EQ(ahead(), 0);
  widths.prints("against/16", Widths::compared(0.01, 0.03, 0.001));
  EXPECT_EQ(ahead(), 1);
  EXPECT_EQ(source_of({.pick = 2}, widths.findings())->stage, 5);
  widths.prints("against/8", Widths::compared(0.001, 0.02, kNoValue));  // without a p-value
  EXPECT_EQ(ahead(), 3);
}

TEST(PipelineClaims, CorrectForTheNumberOfComparisons) {
  Widths widths;
  EXPECT_EQ(widths.claims()[0].conclusion, ClaimConclusion::inconclusive);
  widths.prints("against/4", Widths::compared(0.001, 0.02, 0.03));  // corrected 0.09 for three
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

// Two searches, without a price and with a price of 0.01 per bit, and the formats of layers that they chose.
constexpr const char* kPrices = R"toml(
[settings]
price = 0.01
[stage.bits]
each = [{ name = "free" }, { name = "priced" }]
run = "search"
[pick.free]
stages = "bits/free"
highest = "best.accuracy - {price}*best.bits"
[pick.missed]
stages = "bits/priced"
highest = "best.accuracy"
where = ["best.accuracy - {price} * best.bits <= {free}", "best.bits >= {bits/free.best.bits}"]
[pick.zeroed]
stages = "bits/priced"
rows = "layers"
lowest = "snr"
where = "flushed >= 0.5"
[pick.wider]
stages = "bits"
lowest = "best.bits"
where = "best.bits >= 12"
[pick.alike]
stages = "bits"
highest = "best.bits"
where = "best.bits = {bits/free.best.bits}"
[pick.none]
stages = "bits"
rows = "nowhere"
lowest = "snr"
[claim.found]
says = "the priced search found the better reward"
stage = "bits/priced"
y = "best.accuracy - {price} * best.bits"
above = "{free}"
[claim.accuracy]
says = "the priced search found the better accuracy"
stage = "bits/priced"
y = "best.accuracy"
above = "{bits/free.best.accuracy}"
[claim.gain]
says = "the accuracies differ by a point"
stage = "bits/priced"
y = "best.accuracy - {bits/free.best.accuracy}"
above = 0.01
[[answer]]
says = "free {free}, {zeroed:count} layers, first {zeroed.name} with {zeroed.snr}"
[[answer]]
says = "missed in {missed.name}"
[[answer]]
says = "{wider:count} searches"
[[answer]]
says = "{alike:count} alike"
[[answer]]
says = "{none:count} of nothing"
)toml";

struct Prices : Widths {
  Prices() {
    pipeline = parse_pipeline(kPrices, "prices.toml", {{"search", {.searches = true}}}, {});
    outcomes.clear();
    for (const PipelineStage& stage : pipeline.stages)
      outcomes.push_back({.chosen_stage = stage.name});
    prints("bits/free", best(0.75, 10));
    prints("bits/priced", best(0.875, 30));
  }
  static Json best(double accuracy, double bits) {
    return {{"best",
             {{"accuracy", accuracy},
              {"accuracy_interval", {accuracy - 0.02, accuracy + 0.02}},
              {"bits", bits}}},
            {"layers",
             {{"query", {{"snr", 3}, {"flushed", 0.75}}},
              {"key", {{"snr", 2}, {"flushed", 0.25}}},
              {"value", {{"snr", 1}, {"flushed", nullptr}}}}}};
  }
  std::vector<std::string> answers() const {
    return statement_texts(pipeline.answer, claims(), findings());
  }
};

TEST(PipelinePicks, CompareWithOtherPicksAndCountWhatFulfilsTheirConditions) {
  const Prices prices;
  EXPECT_EQ(prices.answers(),
            (std::vector<std::string>{
                "free 0.650 (95% CI 0.630 to 0.670), 1 of 3 layers, first query with 3",
                "missed in priced", "1 of 2 searches", "1 of 2 alike"}));
}

TEST(PipelinePicks, FulfilNothingWithoutTheValuesTheyCompareWith) {
  Prices prices;
  prices.prints("bits/free", nullptr);
  EXPECT_EQ(prices.answers(), (std::vector<std::string>{"1 of 1 searches", "0 of 1 alike"}));
}

TEST(PipelineClaims, CompareTheValuesOfTwoStages) {
  Prices prices;
  const auto conclusion = [&](std::size_t claim) { return prices.claims()[claim].conclusion; };
  EXPECT_EQ(conclusion(0), ClaimConclusion::contradicted);  // 0.575 against 0.65
  EXPECT_EQ(conclusion(1), ClaimConclusion::reproduced);
  EXPECT_EQ(prices.claims()[1].sentence,
            "the priced search found the better accuracy: reproduced, 87.5% (95% CI 85.5 to 89.5) "
            "against 75.0% (95% CI 73.0 to 77.0)");
  // The interval of a difference adds the widths of both: 12.5 points ± 4.
  EXPECT_EQ(conclusion(2), ClaimConclusion::reproduced);
  const Estimate gain =
      evaluate_formula(*prices.pipeline.claims[2].y, {.stage = 1}, prices.findings());
  EXPECT_NEAR(gain.low, 0.085, 1e-12);
  EXPECT_NEAR(gain.high, 0.165, 1e-12);
  EXPECT_EQ(gain.of, Quantity::points);
  prices.prints("bits/priced", Prices::best(0.78125, 13));
  EXPECT_EQ(conclusion(0), ClaimConclusion::inconclusive);  // 0.651 ± 0.02 against 0.65 ± 0.02
  EXPECT_EQ(conclusion(1), ClaimConclusion::inconclusive);
  EXPECT_EQ(conclusion(2), ClaimConclusion::inconclusive);
  prices.prints("bits/free", nullptr);
  EXPECT_EQ(conclusion(1), ClaimConclusion::inconclusive);
}

}  // namespace
}  // namespace hone
