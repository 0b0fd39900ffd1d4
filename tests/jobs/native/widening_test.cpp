#include "hone/jobs/native/widening.h"

#include <gtest/gtest.h>

#include "hone/jobs/native/native_copy.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

constexpr NativeMethods kPlain = {.smooth_scales = false, .bias_correction = false};

// Returns a model that predicts either class for half of the texts, so that little noise changes many predictions.
Model undecided_model() {
  Model model = tiny_model();
  const Measurement said = measure(model, choice_splits().validation, 8, quiet_context(), "");
  std::vector<float> margins;
  for (std::size_t i = 0; i < said.logits.size(); i += 2)
    margins.push_back(said.logits[i + 1] - said.logits[i]);
  std::ranges::sort(margins);
  model.parameters.set("classifier.bias", Tensor::of<float>({2}, {margins[margins.size() / 2], 0}));
  return model;
}

struct Narrow {
  Model model = undecided_model();
  QuantizationPlan plan =
      native_plan(unquantized_graph(model), format_called("int(bits=2,per=row)"),
                  format_called("int(bits=8,per=token)"));
  NativeCopies copies{model, plan, choice_splits().train, {}, kPlain, quiet_context()};
  std::vector<LayerCost> costs =
      layer_costs(model, copies, plan, choice_splits().train, {}, quiet_context());
};

const LayerFormats* formats_in(const QuantizationPlan& plan, const std::string& layer) {
  for (const auto& [name, formats] : plan)
    if (name == layer) return &formats;
  return nullptr;
}

TEST(Widening, GoesFromFewBitsToEightAndToFp32) {
  EXPECT_EQ(to_string(*wider_weights(format_called("int(bits=4,per=row)"))),
            "int(bits=8,per=row,scale=static)");
  EXPECT_EQ(to_string(*wider_weights(format_called("mxint(bits=4,block=16)"))),
            to_string(format_called("mxint(bits=8,block=16)")));
  EXPECT_FALSE(wider_weights(format_called("int(bits=8,per=row)")).has_value());
  EXPECT_FALSE(wider_weights(format_called("mxfp(element=e2m1)")).has_value());
}

TEST(Widening, TakesTheCostliestLayersFirst) {
  const LayerFormats narrow = {.weight = format_called("int(bits=4,per=row)")},
                     wide = {.weight = format_called("int(bits=8,per=row)")};
  const QuantizationPlan plan = {{"a", narrow}, {"b", narrow}, {"c", wide}};
  const std::vector<LayerCost> costs = {
      {"a", narrow, 20}, {"a", wide, 40}, {"b", narrow, 10}, {"b", wide, 45}, {"c", wide, 30}};
  EXPECT_EQ(widened(plan, costs, 0), plan);
  EXPECT_EQ(widened(plan, costs, 1), (QuantizationPlan{{"a", narrow}, {"b", wide}, {"c", wide}}));
  EXPECT_EQ(widened(plan, costs, 2), (QuantizationPlan{{"a", wide}, {"b", wide}, {"c", wide}}));
  EXPECT_EQ(widened(plan, costs, 3), (QuantizationPlan{{"a", wide}, {"b", wide}}));
  EXPECT_EQ(widened(plan, costs, 4), (QuantizationPlan{{"b", wide}}));
  EXPECT_EQ(widened(plan, costs, 5), QuantizationPlan{});
  // If a layer loses less in its narrower format, its two steps are consecutive.
  const std::vector<LayerCost> odd = {{"a", narrow, 20}, {"a", wide, 15}, {"b", narrow, 18}};
  EXPECT_EQ(widened({{"a", narrow}, {"b", wide}}, odd, 2), (QuantizationPlan{{"a", wide}}));
}

TEST(Widening, MeasuresEveryLayerAlone) {
  const Narrow narrow;
  ASSERT_EQ(narrow.costs.size(), 2 * narrow.plan.size());
  for (std::size_t i = 0; i < narrow.costs.size(); i += 2) {
    EXPECT_EQ(narrow.costs[i].layer, narrow.costs[i + 1].layer);
    EXPECT_LT(narrow.costs[i].snr_db, narrow.costs[i + 1].snr_db) << narrow.costs[i].layer;
    EXPECT_TRUE(std::isfinite(narrow.costs[i].snr_db));
  }
  EXPECT_TRUE(costs_are_cheap(narrow.model, narrow.plan, choice_splits().train, {}));
}

std::vector<Gate> may_lose(double points) {
  return gates_for({.max_drop_points = points}, tiny_model().facts.scheme());
}

// The chosen step passes the gates, and the one before it does not.
TEST(Widening, GoesOnUntilTheModelIsShownToBeKept) {
  const Narrow narrow;
  const Widening chosen = choose_widening(narrow.model, narrow.copies, narrow.plan, narrow.costs,
                                          choice_splits(), 8, may_lose(9), quiet_context());
  EXPECT_FALSE(chosen.too_few_examples);
  EXPECT_EQ(chosen.part, "validation");
  EXPECT_EQ(chosen.examples, 40);
  ASSERT_GT(chosen.steps, 0);
  EXPECT_EQ(chosen.tried.front().steps, 0);
  bool saw_kept = chosen.steps == chosen.all_steps, saw_step_before = false;
  for (const WideningTrial& one : chosen.tried) {
    if (one.steps == chosen.steps) saw_kept = one.verdict.within_limit();
    if (one.steps == chosen.steps - 1) saw_step_before = !one.verdict.within_limit();
  }
  EXPECT_TRUE(saw_kept);
  EXPECT_TRUE(saw_step_before);
  EXPECT_LT(chosen.tried.size(), 8u) << "of 32 steps, by halves";
  for (const auto& [layer, formats] : widened(narrow.plan, narrow.costs, chosen.steps))
    EXPECT_EQ(formats.input, formats_in(narrow.plan, layer)->input);
}

TEST(Widening, DoesNotChooseOnTooFewTexts) {
  const Narrow narrow;
  const Widening chosen = choose_widening(narrow.model, narrow.copies, narrow.plan, narrow.costs,
                                          choice_splits(), 8, may_lose(1), quiet_context());
  EXPECT_TRUE(chosen.too_few_examples);
  EXPECT_EQ(chosen.steps, 0);
  EXPECT_TRUE(chosen.tried.empty());
}

TEST(Widening, WantsAPartToChooseOn) {
  EncodedSplits data = choice_splits();
  check_choice_split(data);
  data.measured.facts.split = "validation";
  expect_user_error("these need two splits", [&] { check_choice_split(data); });
  data.validation = {};
  expect_user_error("there is no validation split to choose on", [&] { check_choice_split(data); });
}

}  // namespace
}  // namespace hone::testing
