#include "hone/analysis/parameters.h"

#include <gtest/gtest.h>

#include <set>

#include "hone/frontends/huggingface/bert.h"
#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

EncoderConfig bert_tiny() {
  EncoderConfig config;
  config.hidden_size = 128;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.intermediate_size = 512;
  return config;
}

std::int64_t elements_under(const Graph& graph, std::string_view prefix) {
  std::int64_t sum = 0;
  for (const ModuleParameters& module : parameters_by_module(graph))
    if (module.module.starts_with(prefix)) sum += module.trainable + module.frozen;
  return sum;
}

TEST(Parameters, OfBertTinyAreTheKnownOnes) {
  const Graph graph = build_graph(ops(), bert(), bert_tiny(), {});
  EXPECT_EQ(total_parameters(graph).all(), 4'386'178);
  EXPECT_EQ(elements_under(graph, "bert.embeddings"), 3'972'864);
  EXPECT_EQ(elements_under(graph, "bert.encoder"), 396'544);
  EXPECT_EQ(elements_under(graph, "bert.pooler"), 16'512);
  EXPECT_EQ(elements_under(graph, "classifier"), 258);
}

TEST(Parameters, StandWithTheModuleThatOwnsThem) {
  const std::vector<ModuleParameters> modules =
      parameters_by_module(build_graph(ops(), bert(), bert_tiny(), {}));
  EXPECT_EQ(modules.size(), 4u + 2 * 8 + 2);
  EXPECT_EQ(modules.front().module, "bert.embeddings.word_embeddings");
  EXPECT_EQ(modules.front().trainable, 30522 * 128);
  EXPECT_EQ(modules.back().module, "classifier");
  EXPECT_EQ(modules.back().trainable, 2 * 128 + 2);
}

// Adding up every level of nesting would give 14,480,258 for this model.
TEST(Parameters, OfModulesAddUpToTheTotalEachOnce) {
  const Graph graph = build_graph(ops(), bert(), bert_tiny(), {});
  std::int64_t sum = 0;
  std::set<std::string> names;
  for (const ModuleParameters& module : parameters_by_module(graph)) {
    sum += module.trainable + module.frozen;
    EXPECT_TRUE(names.insert(module.module).second) << module.module << " stands twice";
  }
  EXPECT_EQ(sum, 4'386'178);
}

TEST(Parameters, AreCountedAsTrainableOrFrozen) {
  Graph graph(ops());
  graph.add_parameter("a.weight", {DType::f32, {2, 3}}, ParameterRole::weight, /*trainable=*/true);
  graph.add_parameter("b.weight", {DType::f32, {5}}, ParameterRole::weight, /*trainable=*/false);
  graph.add_parameter("a.bias", {DType::f32, {}}, ParameterRole::weight, /*trainable=*/false);
  graph.add_parameter("alone", {DType::f32, {7}}, ParameterRole::weight, /*trainable=*/true);
  const ParameterTotals totals = total_parameters(graph);
  EXPECT_EQ(totals.trainable, 13);
  EXPECT_EQ(totals.frozen, 6);
  EXPECT_EQ(totals.all(), 19);
  // A module is listed once, even if its parameters are not adjacent.
  const std::vector<ModuleParameters> modules = parameters_by_module(graph);
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].module, "a");
  EXPECT_EQ(modules[0].trainable, 6);
  EXPECT_EQ(modules[0].frozen, 1);
  EXPECT_EQ(modules[1].module, "b");
  EXPECT_EQ(modules[2].module, "alone");
}

TEST(Parameters, OfAnEmptyGraphAreNone) {
  EXPECT_TRUE(parameters_by_module(Graph(ops())).empty());
  EXPECT_EQ(total_parameters(Graph(ops())).all(), 0);
}

}  // namespace
}  // namespace hone::testing
