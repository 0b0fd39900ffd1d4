#include "hone/jobs/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/text.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;

Recipe recipe_in(std::string_view toml) {
  return parse_recipe(toml, "recipe.toml", builtin().formats);
}

// Returns the recipe resolved for the tiny model's graph, one line for each operand with a format.
std::string resolved(std::string_view toml, std::string_view layer = "*") {
  const Graph graph = unquantized_graph(testing::tiny_model());
  std::string lines;
  for (const auto& [name, formats] : resolve(recipe_in(toml), graph)) {
    if (!glob_match(layer, name)) continue;
    for (const Operand operand : kOperands)
      if (formats[operand])
        lines += fmt::format("{} {} {}\n", name, to_string(operand), to_string(*formats[operand]));
  }
  return lines;
}

std::string refusal(std::string_view toml) {
  return user_error_of([&] { resolved(toml); });
}

TEST(Recipe, GivesEveryLinearTheDefault) {
  EXPECT_EQ(resolved("default = 'integer(width=8,frac=4)'", "classifier"),
            "classifier input integer(width=8,frac=4)\n"
            "classifier weight integer(width=8,frac=4)\n"
            "classifier bias integer(width=8,frac=4)\n");
  const std::string all = resolved("default = 'integer(width=8,frac=4)'");
  EXPECT_EQ(std::ranges::count(all, '\n'), 14 * 3);
}

TEST(Recipe, SetsOperandsApart) {
  EXPECT_EQ(resolved("[default]\nformat = 'integer(width=8,frac=4)'\nbias = 'none'\n"
                     "output = 'integer(width=16,frac=8)'",
                     "classifier"),
            "classifier input integer(width=8,frac=4)\n"
            "classifier weight integer(width=8,frac=4)\n"
            "classifier output integer(width=16,frac=8)\n");
}

TEST(Recipe, LetsLaterRulesWin) {
  constexpr std::string_view kRecipe = R"toml(
default = "integer(width=8,frac=4)"
[[rule]]
name = "bert.encoder.*"
weight = "integer(width=6,frac=3)"
[[rule]]
regex = "layer\\.1\\..*dense$"
weight = "none"
input = "integer(width=4,frac=2)"
)toml";
  EXPECT_EQ(resolved(kRecipe, "bert.encoder.layer.0.output.dense"),
            "bert.encoder.layer.0.output.dense input integer(width=8,frac=4)\n"
            "bert.encoder.layer.0.output.dense weight integer(width=6,frac=3)\n"
            "bert.encoder.layer.0.output.dense bias integer(width=8,frac=4)\n");
  EXPECT_EQ(resolved(kRecipe, "bert.encoder.layer.1.output.dense"),
            "bert.encoder.layer.1.output.dense input integer(width=4,frac=2)\n"
            "bert.encoder.layer.1.output.dense bias integer(width=8,frac=4)\n");
  EXPECT_EQ(resolved(kRecipe, "classifier").find("width=6"), std::string::npos);
}

TEST(Recipe, SelectsOtherOperationsByType) {
  const std::string lines =
      resolved("[[rule]]\nop = ['matmul', 'embedding']\nformat = 'integer(width=8,frac=4)'");
  EXPECT_EQ(lines.find("dense"), std::string::npos);
  EXPECT_NE(lines.find("bert.embeddings.word_embeddings weight integer"), std::string::npos);
  // Two products in each of two layers, and the tables of words and token types. Positions are a slice of their table.
  EXPECT_EQ(std::ranges::count(lines, '\n'), 4 + 2);
}

TEST(Recipe, PrunesLayersByRulesOfWhichTheLastWins) {
  const Graph graph = unquantized_graph(testing::tiny_model());
  const Recipe recipe = recipe_in(
      "[[rule]]\nname = 'bert.pooler.*'\nsparsity = 0.3\n[[rule]]\nname = '*pooler*'\n"
      "sparsity = 0.5\nweight = 'int(bits=8)'\n[[rule]]\nname = 'classifier'\nsparsity = 0");
  EXPECT_EQ(resolve_sparsities(recipe, graph),
            (LayerSparsities{{"bert.pooler.dense", LayerSparsity{.share = 0.5}}}));
  EXPECT_EQ(resolve(recipe, graph).size(), 1u);
  EXPECT_EQ(resolve_sparsities(recipe_in(to_recipe(resolve_sparsities(recipe, graph))), graph),
            resolve_sparsities(recipe, graph));
  EXPECT_EQ(user_error_of([&] { recipe_in("[[rule]]\nname = 'classifier'\nsparsity = 1"); }),
            "recipe.toml, line 3: sparsity: expected a share from 0 on and below 1");
  EXPECT_EQ(user_error_of([&] {
              resolve_sparsities(recipe_in("[[rule]]\nop = 'gelu'\nsparsity = 0.5"), graph);
            }).find("recipe.toml, line 1: sparsity: "),
            0u);
  EXPECT_EQ(user_error_of([&] { check_no_sparsities(recipe); }),
            "recipe.toml, line 1: sparsity: this command supports formats only; `hone quantize` "
            "also prunes");
}

TEST(Recipe, PrunesBlocksWhereARuleSaysSo) {
  const Graph graph = unquantized_graph(testing::tiny_model());
  const Recipe recipe = recipe_in(
      "[[rule]]\nname = 'bert.pooler.*'\nsparsity = 0.5\nstructure = '1x4'\n[[rule]]\n"
      "name = 'classifier'\nsparsity = 0.25");
  const LayerSparsities found = resolve_sparsities(recipe, graph);
  EXPECT_EQ(found,
            (LayerSparsities{{"bert.pooler.dense",
                              LayerSparsity{.share = 0.5, .structure = parse_structure("1x4")}},
                             {"classifier", LayerSparsity{.share = 0.25}}}));
  EXPECT_EQ(resolve_sparsities(recipe_in(to_recipe(found)), graph), found);
  EXPECT_EQ(user_error_of([&] { recipe_in("[[rule]]\nname = 'classifier'\nstructure = '1x4'"); }),
            "recipe.toml, line 3: structure without sparsity removes nothing; give both");
  EXPECT_EQ(user_error_of([&] {
              recipe_in("[[rule]]\nname = 'classifier'\nsparsity = 0.5\nstructure = '2:4'");
            }).find("recipe.toml, line 4: structure: "),
            0u);
}

TEST(Recipe, RefusesRulesWithoutEffect) {
  EXPECT_EQ(
      refusal("[[rule]]\nname = 'bart.*'\nweight = 'none'"),
      "recipe.toml, line 1: the rule matches no operation (op linear, conv2d, name 'bart.*'); see "
      "the names in `hone inspect MODEL`");
  EXPECT_EQ(refusal("[[rule]]\nop = 'matmul'\nweight = 'integer'"),
            "recipe.toml, line 1: no operation that the rule matches has a weight");
  EXPECT_EQ(refusal("[[rule]]\nname = '*'"),
            "recipe.toml, line 1: the rule sets nothing; give format, input, weight, bias, "
            "output or sparsity");
  EXPECT_EQ(refusal(""), "recipe.toml: the recipe is empty; give a default or a [[rule]]");
}

TEST(Recipe, NamesLineAndNearestWordOfMistakes) {
  EXPECT_EQ(refusal("default = 'integer'\nrules = 3"),
            "recipe.toml, line 2: unknown key 'rules' of a recipe; expected one of default, rule; "
            "did you mean 'rule'?");
  EXPECT_EQ(refusal("[default]\nwieght = 'integer'"),
            "recipe.toml, line 2: unknown key 'wieght' of a default; expected one of format, "
            "input, weight, bias, output; did you mean 'weight'?");
  EXPECT_EQ(refusal("\ndefault = 'intger'"),
            "recipe.toml, line 2: unknown format 'intger'; did you mean 'integer'?");
  EXPECT_EQ(refusal("default = 8"), "recipe.toml, line 1: default: expected a string");
  EXPECT_EQ(refusal("rule = 8"), "recipe.toml, line 1: rule: expected [[rule]] tables");
  EXPECT_NE(refusal("[[rule]]\nregex = '('\nweight = 'none'")
                .find("'(' is not a valid regular expression"),
            std::string::npos);
  EXPECT_NE(refusal("default = \n").find("recipe.toml, line 1: "), std::string::npos);
}

}  // namespace
}  // namespace hone
