#include "hone/frontends/huggingface/bert.h"

#include <gtest/gtest.h>

#include "hone/autodiff/gradients.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/passes/remove_dropout.h"
#include "tests/frontends/golden.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::elements_of;
using testing::libraries;

// Returns a batch of two rows; the second is padded.
NamedTensors padded_batch() {
  return {{"input_ids", Tensor::of<std::int64_t>({2, 4}, {2, 9, 8, 3, 2, 7, 3, 0})},
          {"attention_mask", Tensor::of<std::int64_t>({2, 4}, {1, 1, 1, 1, 1, 1, 1, 0})},
          {"token_type_ids", Tensor::of<std::int64_t>({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0})},
          {"labels", Tensor::of<std::int64_t>({2}, {0, 1})}};
}

TEST(Bert, GivesThePaddingRowNoGradient) {
  const Model model = load_model(testing::kGoldenModels / "safetensors", builtin().ops,
                                 builtin().formats, /*seed=*/1);
  Graph graph = model.graph;
  remove_dropout(graph);
  const Value table{graph.find("bert.embeddings.word_embeddings.weight"), 0};
  graph.set_output("gradient", add_gradients(graph, graph.output("loss"), {table})[0]);
  // [PAD] occurs where the mask is 0 and, in the first row, where it is 1.
  NamedTensors inputs = padded_batch();
  inputs["input_ids"] = Tensor::of<std::int64_t>({2, 4}, {2, 9, 0, 3, 2, 7, 3, 0});
  for (const auto& [name, library] : libraries()) {
    const Tensor gradient =
        testing::run_graph(graph, inputs, model.parameters, *library).at("gradient");
    const auto row = [&](std::int64_t id) { return elements_of(gradient.slice(0, id, id + 1)); };
    EXPECT_EQ(row(0), std::vector<float>(row(0).size(), 0.0f)) << name;
    EXPECT_NE(row(9), std::vector<float>(row(9).size(), 0.0f)) << name;
  }
}

std::vector<float> logits_of(const Model& model, const GraphInputs& inputs,
                             const NamedTensors& batch) {
  Graph graph = build_graph(builtin().ops, bert(), config_of(model.facts), inputs);
  remove_dropout(graph);
  verify(graph);
  for (const Node* node : graph.of_kind(NodeKind::input))
    EXPECT_TRUE(node->name() == "input_ids" ||
                (node->name() == "attention_mask" && inputs.attention_mask) ||
                (node->name() == "token_type_ids" && inputs.token_type_ids))
        << node->name();
  return elements_of(testing::run_graph(graph, batch, model.parameters, builtin()).at("logits"));
}

TEST(Bert, ReadsMissingInputsAsAllTextAndFirstSegment) {
  const Model model = load_model(testing::kGoldenModels / "safetensors", builtin().ops,
                                 builtin().formats, /*seed=*/1);
  NamedTensors batch = padded_batch();
  const auto with_mask = logits_of(model, {}, batch);
  EXPECT_EQ(logits_of(model, {.token_type_ids = false}, batch), with_mask);
  batch["attention_mask"] = Tensor::of<std::int64_t>({2, 4}, std::vector<std::int64_t>(8, 1));
  const auto without_mask = logits_of(model, {}, batch);
  EXPECT_NE(without_mask, with_mask);
  EXPECT_EQ(logits_of(model, {.attention_mask = false}, batch), without_mask);
  EXPECT_EQ(logits_of(model, {.attention_mask = false, .token_type_ids = false}, batch),
            without_mask);
  batch["token_type_ids"] = Tensor::of<std::int64_t>({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
  EXPECT_NE(logits_of(model, {}, batch), without_mask);
}

EncoderConfig small_config() {
  EncoderConfig config;
  config.vocab_size = 30;
  config.hidden_size = 8;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.intermediate_size = 12;
  config.max_position_embeddings = 6;
  return config;
}

// Returns logits of two texts of 70 and 90 tokens with dropout, padded to `tokens`.
std::vector<float> dropped_logits(const Model& model, const Library& library, std::int64_t tokens) {
  std::vector<std::int64_t> ids, mask;
  for (const std::int64_t length : {70, 90}) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      ids.push_back(t < length ? 1 + (7 * t + length) % 29 : 0);
      mask.push_back(t < length ? 1 : 0);
    }
  }
  const NamedTensors batch = {{"input_ids", Tensor::of<std::int64_t>({2, tokens}, ids)},
                              {"attention_mask", Tensor::of<std::int64_t>({2, tokens}, mask)},
                              {"random_key", Tensor::scalar<std::int64_t>(5)}};
  const Graph graph =
      build_graph(library.ops, bert(), config_of(model.facts), {.token_type_ids = false});
  return elements_of(testing::run_graph(graph, batch, model.parameters, library).at("logits"));
}

TEST(Bert, DropsTheSameOfATextHoweverFarItIsPadded) {
  EncoderConfig config = small_config();
  config.max_position_embeddings = 130;
  config.initializer_range = 0.5;
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.5;
  const Model model = new_model(facts_of(bert(), config), builtin().ops, /*seed=*/3);
  for (const auto& [name, library] : libraries()) {
    const std::vector<float> alone = dropped_logits(model, *library, 90);
    for (const std::int64_t tokens : {96, 128, 130})
      EXPECT_EQ(dropped_logits(model, *library, tokens), alone) << name << ", " << tokens;
  }
}

std::vector<std::string> names_of(const Graph& graph, std::string_view op) {
  std::vector<std::string> names;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is(op)) names.push_back(node->name());
  return names;
}

TEST(Bert, HasADropoutWhereTransformersHasOne) {
  EncoderConfig config = small_config();
  config.num_hidden_layers = 1;
  const std::string layer = "bert.encoder.layer.0.";
  EXPECT_EQ(names_of(build_graph(builtin().ops, bert(), config, {}), "dropout"),
            (std::vector<std::string>{"bert.embeddings.dropout", layer + "attention.self.dropout",
                                      layer + "attention.output.dropout", layer + "output.dropout",
                                      "dropout"}));
  config.attention_probs_dropout_prob = 0;
  config.classifier_dropout = 0;
  EXPECT_EQ(names_of(build_graph(builtin().ops, bert(), config, {}), "dropout").size(), 3u);
  config.hidden_dropout_prob = 0;
  const Graph graph = build_graph(builtin().ops, bert(), config, {});
  EXPECT_TRUE(names_of(graph, "dropout").empty());
  EXPECT_EQ(graph.find("random_key"), nullptr);
}

TEST(Bert, NamesLinearsAndParametersAsTransformersDoes) {
  const Graph graph = build_graph(builtin().ops, bert(), small_config(), {});
  const std::vector<std::string> linears = names_of(graph, "linear");
  EXPECT_EQ(linears.size(), 14u);
  for (const std::string& name : linears) {
    EXPECT_NE(graph.find(name + ".weight"), nullptr) << name;
    EXPECT_NE(graph.find(name + ".bias"), nullptr) << name;
  }
  for (const char* name :
       {"bert.encoder.layer.1.attention.self.key", "bert.encoder.layer.1.attention.output.dense",
        "bert.encoder.layer.0.intermediate.dense", "bert.encoder.layer.1.output.dense",
        "bert.pooler.dense", "classifier"})
    EXPECT_NE(std::find(linears.begin(), linears.end(), name), linears.end()) << name;
}

TEST(Bert, PrintsAndParsesBack) {
  const std::string text =
      to_string(build_graph(builtin().ops, bert(), small_config(), {.labels = Task::single_label}));
  EXPECT_EQ(to_string(parse_graph(text, builtin().ops, builtin().formats)), text);
}

TEST(Bert, HasNoLossWithoutLabels) {
  const Graph graph = build_graph(builtin().ops, bert(), small_config(), {});
  ASSERT_EQ(graph.outputs().size(), 1u);
  EXPECT_EQ(graph.outputs()[0].first, "logits");
  EXPECT_EQ(graph.find("labels"), nullptr);
  EXPECT_EQ(graph.find("loss"), nullptr);
}

TEST(Bert, RefusesMoreTokensThanPositions) {
  const Model model = new_model(facts_of(bert(), small_config()), builtin().ops, /*seed=*/1);
  const NamedTensors batch = {
      {"input_ids", Tensor::of<std::int64_t>({1, 7}, {2, 5, 5, 5, 5, 5, 3})}};
  expect_user_error("the input needs 7 places along axis 0, there are 6", [&] {
    logits_of(model, {.attention_mask = false, .token_type_ids = false}, batch);
  });
}

TEST(Bert, RefusesIdsOutsideOfTheVocabulary) {
  const Model model = new_model(facts_of(bert(), small_config()), builtin().ops, /*seed=*/1);
  for (const std::int64_t id : {-1, 30}) {
    const NamedTensors batch = {{"input_ids", Tensor::of<std::int64_t>({1, 2}, {2, id})}};
    expect_user_error("bert.embeddings.word_embeddings", [&] {
      logits_of(model, {.attention_mask = false, .token_type_ids = false}, batch);
    });
  }
}

}  // namespace
}  // namespace hone
