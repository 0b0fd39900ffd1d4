#include "hone/study/format_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/jobs/compress.h"
#include "hone/jobs/recipe.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::builtin;
using testing::format_called;
using testing::in_fixed_point;
using testing::normal_values;
using testing::quiet_context;
using testing::squared_error;
using testing::tiny_model;
using testing::tiny_splits;

Tensor column(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

Format best(std::string_view start, const std::vector<float>& values, double most_bits) {
  return best_parameters(format_called(start), column(values), most_bits, quiet_context());
}

// Returns the fraction bits with the smallest squared error, by trying all.
int best_fraction(const std::vector<float>& values, int width) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int frac = -40; frac <= 40; ++frac) {
    const double error = squared_error(values, in_fixed_point(values, width, frac));
    if (error < least) {
      least = error;
      best = frac;
    }
  }
  return best;
}

std::vector<Suggestion> suggestions_for(const QuantizationPlan& plan, double most_bits) {
  return suggest(tiny_model(), plan, tiny_splits().train, {.batch_size = 4, .batch_count = 1},
                 most_bits, quiet_context());
}

QuantizationPlan plan_of(std::string_view format) {
  return plan_with_format(tiny_model(), format_called(format));
}

TEST(FormatNoise, IsThatOfTheFormatCalibratedOnTheValues) {
  const std::vector<float> values = normal_values(500, 0.3);
  const Noise fixed =
      format_noise(format_called("integer(width=5,frac=3)"), column(values), quiet_context());
  EXPECT_DOUBLE_EQ(fixed.noise, squared_error(values, in_fixed_point(values, 5, 3)));
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const int frac = static_cast<int>(std::floor(std::log2(15 / largest)));
  const Noise calibrated =
      format_noise(format_called("integer(width=5)"), column(values), quiet_context());
  EXPECT_DOUBLE_EQ(calibrated.noise, squared_error(values, in_fixed_point(values, 5, frac)));
}

TEST(BestParameters, FindTheFractionThatTryingAllFinds) {
  for (const double deviation : {0.002, 0.05, 1.0, 30.0, 1000.0}) {
    for (const int width : {4, 8}) {
      SCOPED_TRACE(fmt::format("deviation {}, width {}", deviation, width));
      const std::vector<float> values = normal_values(2000, deviation);
      const Format found = best(fmt::format("integer(width={},frac=2)", width), values, width);
      EXPECT_EQ(found["width"], width);
      EXPECT_EQ(found["frac"], best_fraction(values, width));
    }
  }
}

TEST(BestParameters, UseTheBitsThatAreAllowed) {
  const std::vector<float> values = normal_values(2000, 0.05);
  const Format found = best("integer(width=4,frac=2)", values, 9);
  EXPECT_EQ(found["width"], 9);
  EXPECT_EQ(found["frac"], best_fraction(values, 9));
}

TEST(BestParameters, KeepTheFormatWhenNothingIsBetter) {
  const std::vector<float> values = normal_values(2000, 0.05);
  const Format optimum =
      format_called(fmt::format("integer(width=6,frac={})", best_fraction(values, 6)));
  EXPECT_EQ(best_parameters(optimum, column(values), 6, quiet_context()), optimum);
  // There is nothing to choose or nothing to gain.
  EXPECT_EQ(best("bf16", values, 16), format_called("bf16"));
  EXPECT_EQ(best("integer(width=8,frac=1)", {0.5f, -1, 3.5f}, 8),
            format_called("integer(width=8,frac=1)"));
  EXPECT_EQ(best("integer(width=8,frac=1)", {0.5f, -1, 3.5f}, 12),
            format_called("integer(width=8,frac=1)"));
}

// For two values the scale takes as many bits as eight values, but the limit of 8 bits ignores it.
TEST(BestParameters, AreNotChargedForTheStateOfSmallTensors) {
  EXPECT_EQ(best("int(bits=8)", {1, 64 / 127.0f}, 8), format_called("int(bits=8)"));
}

TEST(BestParameters, LeaveToCalibrationWhatItDecides) {
  const Format found = best("integer(width=8)", normal_values(2000, 1e-4), 8);
  EXPECT_EQ(found, format_called("integer(width=8)"));
}

// The search also works if most neighbours of the parameters are invalid or out of range.
TEST(BestParameters, AreNeverWorseNorLongerThanWhatWasGiven) {
  const std::vector<float> values = normal_values(512, 0.02);
  std::vector<std::string> starts = {"minifloat_ieee(width=5,exponent_width=4)",
                                     "minifloat_denorm(width=4,exponent_width=2,exponent_bias=9)",
                                     "mxint(bits=2,block=1)", "integer(width=1,frac=64)"};
  for (const auto& [name, def] : builtin().formats) starts.push_back(name);
  for (const std::string& start : starts) {
    SCOPED_TRACE(start);
    const Format before = format_called(start);
    const Tensor tensor = column(values);
    const double bits = average_bits(before, {768, 768});
    const Format after = best_parameters(before, tensor, bits, quiet_context());
    EXPECT_EQ(after.def, before.def);
    EXPECT_LE(average_bits(after, {768, 768}), bits);
    EXPECT_LE(format_noise(after, tensor, quiet_context()).noise,
              format_noise(before, tensor, quiet_context()).noise);
    EXPECT_EQ(format_called(to_string(after)), after);
  }
}

TEST(BestParameters, ComeDownToTheBitsThatAreAllowed) {
  const std::vector<float> values = normal_values(512, 0.02);
  for (const char* start :
       {"integer(width=8,frac=6)", "integer(width=32,frac=20)", "mxint(bits=8,block=32)",
        "minifloat_ieee(width=8,exponent_width=4)", "block_fp(width=12)"}) {
    SCOPED_TRACE(start);
    const Format after = best(start, values, 4.5);
    EXPECT_LE(average_bits(after, {768, 768}), 4.5) << to_string(after);
    EXPECT_GT(average_bits(after, {768, 768}), 3.5) << to_string(after);
  }
}

TEST(Suggest, GivesEveryOperandParametersOfItsOwn) {
  const QuantizationPlan plan = plan_of("integer(width=8,frac=2)");
  const std::vector<Suggestion> suggestions = suggestions_for(plan, /*most_bits=*/0);
  ASSERT_EQ(suggestions.size(), 14u * 3);
  const Suggestion& query = suggestions[1];
  EXPECT_EQ(query.layer, "bert.encoder.layer.0.attention.self.query");
  EXPECT_EQ(query.operand, Operand::weight);
  EXPECT_EQ(query.before, format_called("integer(width=8,frac=2)"));
  const std::vector<float> weight =
      testing::floats_of(tiny_model().parameters.at(query.layer + ".weight"));
  EXPECT_EQ(query.after["frac"], best_fraction(weight, 8));
  EXPECT_DOUBLE_EQ(query.noise_before.noise, squared_error(weight, in_fixed_point(weight, 8, 2)));
  EXPECT_LT(query.noise_after.noise, query.noise_before.noise);
  for (const Suggestion& suggestion : suggestions) EXPECT_EQ(suggestion.after["width"], 8);
  for (const Suggestion& suggestion : suggestions_for(plan, /*most_bits=*/5))
    EXPECT_LE(suggestion.after["width"], 5) << suggestion.layer;
}

// Returns the plan that results from writing `plan` as a recipe for the tiny model.
QuantizationPlan through_a_recipe(const QuantizationPlan& plan) {
  const Graph graph = unquantized_graph(tiny_model());
  return resolve(
      parse_recipe(to_recipe(plan, graph), "recipe.toml", quiet_context().library.formats), graph);
}

// Both factors of a product are its input operand, so they have a single format.
TEST(Suggest, GivesBothFactorsOfAProductTheSame) {
  const Graph graph = unquantized_graph(tiny_model());
  const QuantizationPlan plan =
      uniform_plan(graph, {.input = format_called("integer(width=8,frac=2)")}, "matmul");
  const std::vector<Suggestion> suggestions = suggestions_for(plan, /*most_bits=*/0);
  ASSERT_EQ(suggestions.size(), 2u * plan.size());
  const QuantizationPlan better = with_suggestions(plan, suggestions);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(suggestions[2 * i].layer, plan[i].first);
    EXPECT_EQ(suggestions[2 * i].after, suggestions[2 * i + 1].after);
    EXPECT_EQ(better[i].second.input, suggestions[2 * i].after);
  }
}

// Parameters that suit one factor can cost the other more than they gain.
TEST(Suggest, LosesNoMoreOfBothFactorsThanTheGivenFormat) {
  const Graph graph = unquantized_graph(tiny_model());
  for (const char* format :
       {"integer(width=6,frac=4)", "integer(width=8,frac=6)", "mxint(bits=4)"}) {
    SCOPED_TRACE(format);
    const QuantizationPlan plan = uniform_plan(graph, {.input = format_called(format)}, "matmul");
    const std::vector<Suggestion> suggestions = suggestions_for(plan, /*most_bits=*/0);
    const auto lost_share = [](const Noise& noise) {
      return noise.signal > 0 ? noise.noise / noise.signal : 0;
    };
    for (std::size_t i = 0; i < suggestions.size(); i += 2) {
      const Suggestion &left = suggestions[i], &right = suggestions[i + 1];
      EXPECT_LE(lost_share(left.noise_after) + lost_share(right.noise_after),
                lost_share(left.noise_before) + lost_share(right.noise_before))
          << left.layer;
    }
  }
}

TEST(Suggest, MakesAPlanThatIsTheSameThroughARecipe) {
  QuantizationPlan plan = plan_of("integer(width=6,frac=2)");
  plan.erase(plan.begin() + 3);
  plan[0].second.bias = std::nullopt;
  plan[1].second.output = format_called("mxint(bits=8)");
  const QuantizationPlan better = with_suggestions(plan, suggestions_for(plan, 0));
  EXPECT_NE(better, plan);
  EXPECT_EQ(better.size(), plan.size());
  EXPECT_FALSE(better[0].second.bias.has_value());
  EXPECT_EQ(through_a_recipe(better), better);
}

TEST(Suggest, WritesRecipesForOtherOperationsThanLinears) {
  const Graph graph = unquantized_graph(tiny_model());
  const Format format = format_called("integer(width=8,frac=4)");
  QuantizationPlan plan = uniform_plan(graph, {.input = format}, "matmul");
  plan.emplace_back("classifier", LayerFormats::reads(format));
  EXPECT_EQ(through_a_recipe(plan), plan);
}

}  // namespace
}  // namespace hone
