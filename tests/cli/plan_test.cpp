#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Plan, ShowsWhatEveryOperandTakesBeforeAnyWork) {
  const TemporaryFolder folder;
  folder.file("recipe.toml", R"toml(
default = "integer(width=8,frac=4)"
[[rule]]
name = "classifier"
weight = "integer(width=4,frac=2)"
bias = "none"
)toml");
  const Json plan = run_json({"plan", "tiny", "--recipe", "recipe.toml"}, folder.path());
  ASSERT_EQ(plan["operands"].size(), 14 * 3 - 1);
  const Json& last = plan["operands"].back();
  EXPECT_EQ(last["layer"], "classifier");
  EXPECT_EQ(last["operand"], "weight");
  EXPECT_EQ(last["format"], "integer(width=4,frac=2)");
  EXPECT_EQ(last["average_bits"], 4);
  EXPECT_EQ(last["fp32_bytes"], 2 * 128 * 4);
  EXPECT_EQ(last["packed_bytes"], 2 * 128 / 2);
  EXPECT_EQ(plan["arithmetic"], "simulated");
  EXPECT_EQ(plan["operands"][0]["shape"], (Json{8, 128, 128}));
  const auto whole = plan["fp32_bytes"].get<double>(), packed = plan["packed_bytes"].get<double>();
  const auto quantized = plan["quantized_parameters"].get<double>();
  EXPECT_NEAR(packed, whole - 3 * quantized - 128, 1);
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"recipe.toml"});
}

TEST(Plan, PutsFlagsOverTheRecipe) {
  const TemporaryFolder folder;
  folder.file("recipe.toml", "default = 'integer(width=8,frac=4)'\n");
  const Json plan = run_json(
      {"plan", "tiny", "--recipe", "recipe.toml", "--bias_format", "none", "--weight_format",
       "integer(width=6,frac=3)", "--rule", "regex = 'query|key|value', input = 'none'", "--rule",
       "op = 'matmul', input = 'integer(width=16,frac=8)'"},
      folder.path());
  std::map<std::string, int> counts;
  for (const Json& row : plan["operands"])
    ++counts[fmt::format("{} {} {}", row["operation"].get<std::string>(),
                         row["operand"].get<std::string>(), row["format"].get<std::string>())];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"linear input integer(width=8,frac=4)", 8},
                                                {"linear weight integer(width=6,frac=3)", 14},
                                                {"matmul input integer(width=16,frac=8)", 8}}));
}

TEST(Plan, RefusesARuleWithoutEffect) {
  const Ending ending =
      run_hone({"plan", "tiny", "--rule", "name = 'clasifier', weight = 'none'"}, workshop());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("--rule, line 1: the rule matches no operation"),
            std::string::npos)
      << ending.messages;
}

}  // namespace
}  // namespace hone::testing
