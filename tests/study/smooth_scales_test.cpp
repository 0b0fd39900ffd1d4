#include "hone/study/smooth_scales.h"

#include <gtest/gtest.h>

#include "hone/ir/verify.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

constexpr const char* kLayer = "bert.encoder.layer.1.attention";

// Scales channel 3 of the attention's output by 64 without changing the model's output.
Model with_outlier(Model model) {
  const std::string value = fmt::format("{}.self.value", kLayer);
  const auto change = [&](const std::string& name, auto&& factor) {
    Tensor& tensor = model.parameters.writable(name);
    const std::span<float> values = tensor.values<float>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factor(i);
  };
  change(value + ".weight", [](std::size_t i) { return i / 32 == 3 ? 64.0f : 1.0f; });
  change(value + ".bias", [](std::size_t i) { return i == 3 ? 64.0f : 1.0f; });
  change(fmt::format("{}.output.dense.weight", kLayer),
         [](std::size_t i) { return i % 32 == 3 ? 1 / 64.0f : 1.0f; });
  return model;
}

std::vector<SmoothScales> scales_of(const Model& model, std::string_view input) {
  const QuantizationPlan plan =
      uniform_plan(unquantized_graph(model),
                   {.input = format_called(input), .weight = format_called("int(bits=8,per=row)")});
  std::vector<std::string> layers;
  for (const auto& [name, formats] : plan) layers.push_back(name);
  const std::map<std::string, LayerInput> inputs =
      observe_inputs(model, layers, tiny_splits().train, {}, quiet_context());
  return choose_smooth_scales(model, plan, inputs, {}, quiet_context());
}

TEST(SmoothScales, WinBackWhatAnOutlierTakes) {
  const std::string name = fmt::format("{}.self.join_heads", kLayer);
  int found = 0;
  for (const char* input : {"int(bits=8,per=token)", "int(bits=8)"}) {
    SCOPED_TRACE(input);
    double plain_db = 0;
    for (const SmoothScales& one : scales_of(tiny_model(), input))
      if (one.group.value == name) plain_db = one.snr_before_db;
    for (const SmoothScales& one : scales_of(with_outlier(tiny_model()), input)) {
      if (one.group.value != name) continue;
      EXPECT_LT(one.snr_before_db, plain_db - 10);
      EXPECT_GT(one.snr_after_db, one.snr_before_db + 10);
      ASSERT_TRUE(one.applies());
      // This channel gets the largest scale, and all scales are powers of two.
      EXPECT_EQ(std::ranges::max_element(one.scales) - one.scales.begin(), 3);
      for (const float scale : one.scales) EXPECT_EQ(std::exp2(std::log2(scale)), scale);
      ++found;
    }
  }
  EXPECT_EQ(found, 2);
}

// Without outliers weights lose more than inputs gain, so no scales are inserted.
TEST(SmoothScales, AreLeftOutWhereOutputsDoNotGain) {
  for (const SmoothScales& one : scales_of(tiny_model(), "int(bits=8,per=token)")) {
    const double least = one.group.free() ? kFreeGainDb : kPaidGainDb;
    EXPECT_EQ(one.applies(), one.snr_after_db - one.snr_before_db >= least) << one.group.value;
    EXPECT_GE(one.snr_after_db, one.snr_before_db);
  }
}

std::vector<float> answers(const Model& model) {
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  ThreadPool pool(1);
  Interpreter interpreter(graph, builtin(), pool);
  ParameterStore parameters = model.parameters;
  const EncodedSet texts = tiny_texts(6);
  const std::vector<std::int64_t> rows = {0, 1, 2, 3, 4, 5};
  return floats_of(interpreter.run(text_examples(texts).batch(rows, 0), parameters).at("logits"));
}

std::set<std::string> linears_of(const Graph& graph) {
  std::set<std::string> linears;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is("linear")) linears.insert(node->name());
  return linears;
}

// The output of a normalization is also read by the residual connection. The output of an attention comes from its
// values.
TEST(SmoothScales, AreFreeForWhatAttentionsGive) {
  const Model model = tiny_model();
  std::vector<std::string> writers, paid;
  for (const SmoothGroup& group : smooth_groups(model.graph, linears_of(model.graph)))
    group.free() ? writers.push_back(group.writer) : paid.push_back(group.value);
  EXPECT_EQ(writers, (std::vector<std::string>{"bert.encoder.layer.0.attention.self.value",
                                               "bert.encoder.layer.1.attention.self.value"}));
  EXPECT_EQ(paid, (std::vector<std::string>{"bert.embeddings.dropout",
                                            "bert.encoder.layer.0.attention.output.LayerNorm",
                                            "bert.encoder.layer.0.output.LayerNorm",
                                            "bert.encoder.layer.1.attention.output.LayerNorm"}));
}

TEST(SmoothScales, KeepEveryBitOfAnswersInEveryArchitecture) {
  const Json sizes[] = {{{"model_type", "bert"},
                         {"hidden_size", 32},
                         {"num_hidden_layers", 2},
                         {"num_attention_heads", 2},
                         {"intermediate_size", 64}},
                        {{"model_type", "distilbert"},
                         {"dim", 32},
                         {"n_layers", 2},
                         {"n_heads", 2},
                         {"hidden_dim", 64}},
                        {{"model_type", "electra"},
                         {"embedding_size", 16},
                         {"hidden_size", 32},
                         {"num_hidden_layers", 2},
                         {"num_attention_heads", 2},
                         {"intermediate_size", 64}},
                        {{"model_type", "roberta"},
                         {"hidden_size", 32},
                         {"num_hidden_layers", 2},
                         {"num_attention_heads", 2},
                         {"intermediate_size", 64},
                         {"type_vocab_size", 1}}};
  for (const Json& one : sizes) {
    SCOPED_TRACE(one.dump());
    Json config = {{"vocab_size", 40},
                   {"max_position_embeddings", 25},
                   {"initializer_range", 0.2},
                   {"pad_token_id", 0}};
    config.update(one);
    Model model = new_model(model_facts(config, "config.json"), builtin().ops, /*seed=*/5);
    const std::vector<float> before = answers(model);
    std::size_t attentions = 0, paid = 0;
    for (const SmoothGroup& group : smooth_groups(model.graph, linears_of(model.graph))) {
      ++(group.free() ? attentions : paid);
      std::vector<float> scales;
      for (int k = 0; k < model.graph.find(group.value)->types()[0].dim(-1).size; ++k)
        scales.push_back(std::ldexp(1.0f, k % 7 - 3));
      smooth(model.graph, model.parameters, group, scales);
    }
    verify(model.graph);
    EXPECT_GE(attentions, 2u);
    EXPECT_GE(paid, 3u);
    EXPECT_EQ(answers(model), before);
  }
}

}  // namespace
}  // namespace hone::testing
