#include "hone/jobs/shrink/shrink_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

/// Returns three levels each of removed neurons, training steps and bits.
std::vector<ShrinkParameter> three_parameters() {
  SearchSpace space;
  space.parameters = {{"structure.neurons", integer_values(0, 2)},
                      {"training.max_steps", integer_values(0, 2)},
                      {"native.linears", choice_of({"none", "int8", "int4"})}};
  return shrink_parameters(space, {{"structure.neurons", {0, 0.25, 0.5}}});
}

/// Removing half of the neurons halves the time and does damage. Fewer bits shrink the model, at first almost without
/// damage.
LevelEffects effects_of(double half_damage) {
  return {{{},
           {{{"linears", 0.9}}, 0.8, 0.8, half_damage / 10},
           {{{"linears", 0.8}}, 0.5, 0.5, half_damage}},
          {},
          {{}, {{{"linears", 0.3}}, 0.9, 0.9, 1e-6}, {{{"linears", 0.2}}, 0.9, 0.9, 10}}};
}

class ShrinkPlan : public ::testing::Test {
 protected:
  ShrinkState state_with(const LevelEffects& effects) {
    effects_ = effects;
    ShrinkState state{
        .parameters = parameters_, .effects = effects_, .begin = {.bytes = {{"linears", 1}}}};
    state.key = [](const ShrinkPoint& point) {
      std::string text;
      for (const std::size_t level : point) text += std::to_string(level);
      return text;
    };
    state.seconds = [](const ShrinkPoint& point) {
      return 1.0 + 100.0 * static_cast<double>(point[1]);
    };
    state.seconds_left = 1000;
    state.evaluation_seconds = 10;
    return state;
  }

  std::vector<ShrinkParameter> parameters_ = three_parameters();
  LevelEffects effects_;
};

TEST_F(ShrinkPlan, TakesValuesAsLevels) {
  const Assignment values = assignment_of(parameters_, {2, 1, 2});
  EXPECT_EQ(values.at("structure.neurons"), 2);
  EXPECT_EQ(parameters_[0].decoded[2], 0.5);
  EXPECT_EQ(values.at("native.linears"), "int4");
  EXPECT_EQ(point_of(parameters_, values), (ShrinkPoint{2, 1, 2}));
  EXPECT_EQ(point_of(parameters_, {{"structure.neurons", 2}}), std::nullopt);
  SearchSpace real;
  real.parameters = {{"training.learning_rate", real_values(0, 1)}};
  EXPECT_THROW(shrink_parameters(real, Json::object()), UserError);
}

TEST_F(ShrinkPlan, SharesOfTheGoal) {
  const ShrinkShares shares{.bytes = 0.25, .batch_latency = 0.5, .batch1_latency = 0.08};
  EXPECT_DOUBLE_EQ(goal_share(ShrinkGoal::size, shares), 0.25);
  EXPECT_DOUBLE_EQ(goal_share(ShrinkGoal::latency, shares), 0.2);
  EXPECT_DOUBLE_EQ(goal_share(ShrinkGoal::both, shares), std::sqrt(0.25 * 0.2));
  for (const char* word : {"both", "size", "latency"})
    EXPECT_EQ(enum_name(parse_shrink_goal(word)), word);
  EXPECT_THROW(parse_shrink_goal("speed"), UserError);
}

TEST(ShrinkRecipe, NamesTheNarrowFormatOfTheRecipe) {
  SearchSpace space;
  space.parameters = {{"native.linears", choice_of({"none", "int8"})},
                      {"native.narrow_share", integer_values(0, 2)}};
  const Json shares = {{"native.narrow_share", {0, 0.75, 1}}};
  std::vector<ShrinkParameter> parameters = shrink_parameters(space, shares, "int3");
  EXPECT_EQ(recipe_text(parameters, {1, 0}), "linear layers int8");
  EXPECT_EQ(recipe_text(parameters, {1, 1}), "linear layers int8, 75% of them int3");
  EXPECT_EQ(recipe_text(parameters, {1, 2}), "linear layers int3");
  EXPECT_EQ(recipe_text(parameters, {0, 1}), "") << "a share of no linear layers";
  space.parameters.push_back({"native.narrow", choice_of({"int4", "int2"})});
  parameters = shrink_parameters(space, shares);
  EXPECT_EQ(recipe_text(parameters, {1, 1, 0}), "linear layers int8, 75% of them int4");
  EXPECT_EQ(recipe_text(parameters, {1, 2, 1}), "linear layers int2");
}

TEST(ShrinkRecipe, SaysHowManyWeightsAreRemovedAndInWhichBlocks) {
  SearchSpace space;
  space.parameters = {{"pruning.sparsity", integer_values(0, 1)},
                      {"native.linears", choice_of({"none", "int8"})},
                      {"train_on.max_steps", choice_of({0, 128})}};
  const Json shares = {{"pruning.sparsity", {0, 0.8}}};
  const std::vector<ShrinkParameter> parameters = shrink_parameters(space, shares, "", "1x4");
  EXPECT_TRUE(parameters[0].compresses());
  EXPECT_FALSE(parameters[2].compresses());
  EXPECT_EQ(recipe_text(parameters, {1, 1, 1}),
            "80% of the weights removed in blocks of 1x4, linear layers int8, QAT 128 steps");
  EXPECT_EQ(recipe_text(parameters, {1, 0, 1}),
            "80% of the weights removed in blocks of 1x4, trained again 128 steps");
  EXPECT_EQ(recipe_text(shrink_parameters(space, shares), {1, 0, 0}), "80% of the weights removed");
}

// The first evaluation takes everything that does almost no damage, without training.
TEST_F(ShrinkPlan, BeginsWithAllThatCostsNextToNothing) {
  const ShrinkState state = state_with(effects_of(1e-5));
  const std::optional<ShrinkStep> step = next_step(state);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->point, (ShrinkPoint{2, 0, 1}));
  EXPECT_NEAR(step->shares.bytes, 0.8 * 0.3, 1e-12);
  EXPECT_NEAR(step->shares.batch_latency, 0.5 * 0.9, 1e-12);
  EXPECT_NEAR(step->damage, 1.1e-5, 1e-12);
  EXPECT_EQ(recipe_text(parameters_, step->point), "neurons -50%, linear layers int8");
  EXPECT_NEAR(step->gain, 1 / goal_share(ShrinkGoal::both, step->shares), 1e-12);
}

// Fewer bits change linears and tables separately. The initial shares are counted once.
TEST_F(ShrinkPlan, SharesOfEveryKindOfTensorMultiplyAlone) {
  LevelEffects effects = effects_of(1e-5);
  effects[0][2].bytes = {{"linears", 0.75}, {"norms", 1}};
  effects[2][1].bytes = {{"linears", 0.25}, {"tables", 0.5}};
  ShrinkState state = state_with(effects);
  state.begin.bytes = {{"linears", 0.4}, {"tables", 0.2}, {"norms", 0.01}};
  const std::optional<ShrinkStep> step = next_step(state);
  ASSERT_TRUE(step.has_value());
  ASSERT_EQ(step->point, (ShrinkPoint{2, 0, 1}));
  EXPECT_NEAR(step->shares.bytes, 0.4 * 0.75 * 0.25 + 0.2 * 0.5 + 0.01, 1e-12);
  const ShrinkShares begin{.bytes = 0.61};
  EXPECT_NEAR(step->gain,
              goal_share(ShrinkGoal::both, begin) / goal_share(ShrinkGoal::both, step->shares),
              1e-12);
}

// The effects of levels measured together with another one apply only together with it.
TEST_F(ShrinkPlan, CountsALevelOnlyWithTheOneBesideWhichItWasMeasured) {
  ShrinkState state = state_with(effects_of(1e-5));
  state.reference_points = {{0, 0, 1}, {0, 0, 0}, {0, 0, 0}};
  const std::optional<ShrinkStep> both = next_step(state);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->point, (ShrinkPoint{2, 0, 1}));
  EXPECT_NEAR(both->shares.bytes, 0.8 * 0.3, 1e-12);
  EXPECT_NEAR(both->shares.batch_latency, 0.5 * 0.9, 1e-12);
  // Fewer bits do too much damage, so the neurons, which have no effect without them, are not tried.
  effects_[2][1].damage = effects_[2][2].damage = 1e3;
  state.tried.push_back({{0, 2, 1}, {}, false});
  EXPECT_FALSE(next_step(state).has_value());
  state.reference_points.clear();
  ASSERT_TRUE(next_step(state).has_value());
  EXPECT_EQ(next_step(state)->point, (ShrinkPoint{2, 0, 0}));
}

// Steps continue from the best point, using the ratios of levels. Steps as strong as a failed one need more training.
TEST_F(ShrinkPlan, GoesOnFromWhatIsKeptAndLearnsFromWhatIsNot) {
  ShrinkState state = state_with(effects_of(0.2));
  state.tried.push_back(
      {{0, 0, 1}, {.bytes = 0.4, .batch_latency = 0.8, .batch1_latency = 0.8}, true});
  state.tried.push_back(
      {{2, 0, 1}, {.bytes = 0.3, .batch_latency = 0.4, .batch1_latency = 0.4}, false});
  EXPECT_EQ(state.best(), 0u);
  const std::optional<ShrinkStep> step = next_step(state);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->point, (ShrinkPoint{1, 0, 1}));
  EXPECT_NEAR(step->shares.bytes, 0.4 * 0.9, 1e-12);
  state.tried.push_back(
      {{1, 0, 1}, {.bytes = 0.36, .batch_latency = 0.64, .batch1_latency = 0.64}, true});
  const std::optional<ShrinkStep> next = next_step(state);
  ASSERT_TRUE(next.has_value());
  // Half of the neurons again, but with training, because it failed without.
  EXPECT_EQ(next->point[0], 2u);
  EXPECT_EQ(next->point[2], 1u) << "what the best has too";
  EXPECT_GT(next->point[1], 0u);
  EXPECT_NEAR(next->shares.batch_latency, 0.64 * 0.5 / 0.8, 1e-12);
}

TEST_F(ShrinkPlan, ChancesFallWithDamageAndRiseWithWork) {
  ShrinkState state = state_with(effects_of(0.02));
  const double some = chance_of(state, {1, 0, 0}), more = chance_of(state, {2, 0, 0}),
               trained = chance_of(state, {2, 1, 0});
  EXPECT_GT(some, more);
  EXPECT_GT(trained, more);
  EXPECT_DOUBLE_EQ(chance_of(state, {0, 0, 1}), 0.95);
  EXPECT_DOUBLE_EQ(chance_of(state, {0, 0, 2}), 0.05);
  state.tried.push_back({{2, 0, 0}, {}, true});
  EXPECT_DOUBLE_EQ(chance_of(state, {1, 0, 0}), 0.95);
  EXPECT_DOUBLE_EQ(chance_of(state, {2, 2, 0}), 0.95);
  state.tried = {{{1, 1, 0}, {}, false}};
  EXPECT_DOUBLE_EQ(chance_of(state, {1, 0, 0}), 0.05);
  EXPECT_DOUBLE_EQ(chance_of(state, {2, 1, 0}), 0.05);
  EXPECT_GT(chance_of(state, {1, 2, 0}), 0.05);
}

// With few texts the chance is limited even for good points. Points that already passed have a high chance.
TEST_F(ShrinkPlan, ChancesAreNoHigherThanTextsCanShow) {
  ShrinkState state = state_with(effects_of(0.0025));
  const ShrinkPoint half = {2, 0, 0}, trained = {2, 1, 0};
  EXPECT_NEAR(flips_of(state, half), 0.3 * 0.05, 1e-12);
  EXPECT_NEAR(flips_of(state, trained), 0.02, 1e-12);
  std::vector<double> asked;
  state.pass_chance = [&](double flips) {
    asked.push_back(flips);
    return 0.3;
  };
  EXPECT_DOUBLE_EQ(chance_of(state, half), 0.3);
  EXPECT_DOUBLE_EQ(chance_of(state, trained), 0.3);
  EXPECT_EQ(asked, (std::vector<double>{flips_of(state, half), flips_of(state, trained)}));
  state.pass_chance = [](double) { return 0.0; };
  EXPECT_DOUBLE_EQ(chance_of(state, half), 0.05);
  state.tried.push_back({trained, {}, true, 0.008});
  EXPECT_DOUBLE_EQ(chance_of(state, trained), 0.95);
  EXPECT_NEAR(flips_of(state, {1, 2, 0}), 0.008, 1e-12);
}

// Training before quantization does not repair the damage of rounding.
TEST_F(ShrinkPlan, TrainsFloatsOnlyWhereUnitsGo) {
  LevelEffects effects = effects_of(500);
  effects[0] = {{}};
  effects[2][2].damage = 0.3;
  ShrinkState state = state_with(effects);
  state.tried.push_back(
      {{0, 0, 1}, {.bytes = 0.3, .batch_latency = 0.9, .batch1_latency = 0.9}, true});
  state.tried.push_back(
      {{0, 0, 2}, {.bytes = 0.2, .batch_latency = 0.9, .batch1_latency = 0.9}, false});
  EXPECT_FALSE(next_step(state).has_value());
  parameters_[1].name = "train_on.max_steps";
  const std::optional<ShrinkStep> step = next_step(state);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->point, (ShrinkPoint{0, 1, 2}));
}

TEST_F(ShrinkPlan, EndsWhereNothingPromisesAnythingOrTimeIsUp) {
  ShrinkState state = state_with(effects_of(1e-5));
  state.tried.push_back(
      {{2, 0, 1}, {.bytes = 0.2, .batch_latency = 0.5, .batch1_latency = 0.5}, true});
  // Four bits failed even with the most training.
  state.tried.push_back(
      {{0, 2, 2}, {.bytes = 0.2, .batch_latency = 0.9, .batch1_latency = 0.9}, false});
  EXPECT_FALSE(next_step(state).has_value());
  state.tried.clear();
  state.seconds_left = 0.5;
  EXPECT_FALSE(next_step(state).has_value());
}

// Damage measured for single levels predicts only roughly what training can repair, so such points are tried last.
TEST_F(ShrinkPlan, GuessesAloneRuleNothingOut) {
  LevelEffects effects = effects_of(50);
  for (std::size_t level = 1; level < 3; ++level) effects[2][level].damage = 50;
  ShrinkState state = state_with(effects);
  ASSERT_TRUE(next_step(state).has_value());
  state.tried.push_back({{0, 2, 1}, {}, false});
  std::optional<ShrinkStep> step = next_step(state);
  EXPECT_TRUE(!step || step->damage < 50);
  // A gentle point passed, so stronger ones follow, with the most training.
  effects_[2][1].damage = 1e-6;
  state.tried = {{{0, 0, 1}, {.bytes = 0.3, .batch_latency = 0.9, .batch1_latency = 0.9}, true}};
  step = next_step(state);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->point[1], 2u);
  EXPECT_DOUBLE_EQ(step->chance, 0.05);
}

// A larger or slower model is never the best.
TEST_F(ShrinkPlan, NothingIsBestThatTakesMore) {
  ShrinkState state = state_with(effects_of(1e-5));
  state.tried.push_back(
      {{0, 0, 1}, {.bytes = 0.9, .batch_latency = 1.5, .batch1_latency = 1.5}, true});
  EXPECT_FALSE(state.best().has_value());
  state.tried.push_back(
      {{1, 0, 0}, {.bytes = 0.9, .batch_latency = 0.9, .batch1_latency = 0.9}, false});
  EXPECT_FALSE(state.best().has_value());
  state.tried.push_back(
      {{1, 0, 1}, {.bytes = 0.5, .batch_latency = 0.5, .batch1_latency = 0.5}, true});
  EXPECT_EQ(state.best(), 2u);
  const auto than = [](double share) {
    return ShrinkShares{.bytes = share, .batch_latency = share, .batch1_latency = share};
  };
  EXPECT_EQ(best_within_limit(ShrinkGoal::both, state.tried, than(0.6)), 2u);
  EXPECT_EQ(best_within_limit(ShrinkGoal::both, state.tried, than(0.5)), std::nullopt);
}

// A noisy latency at batch size 1 is ignored for all points, because otherwise their shares would not be comparable.
TEST(ShrinkChoice, IgnoresTheTimeAloneWhereItIsNoisy) {
  std::vector<TriedPoint> tried = {
      {.point = {1},
       .shares = {.bytes = 0.13, .batch_latency = 0.56, .batch1_latency = 0.38},
       .within_limit = true},
      {.point = {2},
       .shares = {.bytes = 0.12, .batch_latency = 0.53, .batch1_latency = 0.63},
       .within_limit = true}};
  EXPECT_TRUE(counts_batch1(tried));
  EXPECT_EQ(best_within_limit(ShrinkGoal::latency, tried), 0u);
  for (TriedPoint& one : tried) {
    one.is_batch1_noisy = true;
    EXPECT_FALSE(counts_batch1(tried));
    EXPECT_EQ(best_within_limit(ShrinkGoal::latency, tried), 1u);
    EXPECT_EQ(best_within_limit(ShrinkGoal::latency, tried,
                                {.batch_latency = 0.55, .batch1_latency = 0.1}),
              1u);
    EXPECT_EQ(best_within_limit(ShrinkGoal::latency, tried, {.batch_latency = 0.5}), std::nullopt);
    one.is_batch1_noisy = false;
  }
}

}  // namespace
}  // namespace hone
