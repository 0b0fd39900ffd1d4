#include "hone/passes/lora.h"

#include <cmath>

#include "hone/base/random.h"
#include "hone/passes/quantize.h"
#include "hone/train/training_graph.h"
#include "tests/passes/before_after.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr std::string_view kTwoLinears = R"(%x = input : f32[B, 4]
%w = parameter weight trainable : f32[3, 4]
%b = parameter bias trainable : f32[3]
%head.weight = parameter weight trainable : f32[2, 3]
%q = quantize(%x) {format=int(bits=8,per=tensor,scale=dynamic)} : f32[B, 4]
%layer.query = linear(%q, %w, %b) : f32[B, 3]
%act = relu(%layer.query) : f32[B, 3]
%head = linear(%act, %head.weight) : f32[B, 2]
output y = %head
)";

LoraOptions of_query() {
  return {.target = {"query"}, .rank = 2, .alpha = 6, .modules_to_save = {"head"}};
}

TEST(InsertLora, GivesLinearsAdaptersAndFreezesAllElse) {
  ParameterStore parameters;
  const auto insert = [&](Graph& graph) { return insert_lora(graph, parameters, of_query()); };
  expect_after(kTwoLinears, insert, R"(%x = input : f32[B, 4]
%w = parameter weight frozen : f32[3, 4]
%b = parameter bias frozen : f32[3]
%head.weight = parameter weight trainable : f32[2, 3]
%layer.query.lora_A.weight = parameter adapter trainable : f32[2, 4]
%layer.query.lora_B.weight = parameter adapter trainable : f32[3, 2]
%q = quantize(%x) {format=int(bits=8,per=tensor,scale=dynamic)} : f32[B, 4]
%layer.query = linear(%q, %w, %b) : f32[B, 3]
%layer.query.lora_A = linear(%x, %layer.query.lora_A.weight) : f32[B, 2]
%layer.query.lora_scale = scale(%layer.query.lora_A) {factor=3.0} : f32[B, 2]
%layer.query.lora_B = linear(%layer.query.lora_scale, %layer.query.lora_B.weight) : f32[B, 3]
%layer.query.lora = add(%layer.query, %layer.query.lora_B) : f32[B, 3]
%act = relu(%layer.query.lora) : f32[B, 3]
%head = linear(%act, %head.weight) : f32[B, 2]
output y = %head
)");
  for (const float b : parameters.at("layer.query.lora_B.weight").values<float>()) EXPECT_EQ(b, 0);
  float largest = 0;
  for (const float a : parameters.at("layer.query.lora_A.weight").values<float>())
    largest = std::max(largest, std::fabs(a));
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, 0.5f);  // 1/sqrt(4)
}

TEST(InsertLora, DropsOutByTheWordsOfTheModelsOwnDropouts) {
  constexpr std::string_view kBefore = R"(%x = input : f32[B, S, 4]
%random_key = input : i64[]
%w = parameter weight trainable : f32[3, 4]
%d = dropout(%x, %random_key) {p=0.1, stream=7, limits=[B, 512, 4]} : f32[B, S, 4]
%y = linear(%d, %w) : f32[B, S, 3]
output y = %y
)";
  Graph graph = parse(kBefore);
  ParameterStore parameters;
  insert_lora(graph, parameters, {.rank = 2, .dropout = 0.25});
  const Node& dropout = *graph.find("y.lora_dropout");
  EXPECT_EQ(dropout.inputs()[1].node->name(), "random_key");
  EXPECT_EQ(dropout.attributes().get<double>("p"), 0.25);
  EXPECT_EQ(to_string(dropout.attributes().get<Shape>("limits")), "[B, 512, 4]");
  EXPECT_NE(dropout.attributes().get<std::int64_t>("stream"), 7);
}

TEST(InsertLora, TrainsAdaptersAndNothingBelow) {
  Graph graph = parse(R"(%x = input : f32[B, 4]
%labels = input : i64[B]
%v = parameter weight trainable : f32[4, 4]
%w = parameter weight trainable : f32[3, 4]
%below = linear(%x, %v) : f32[B, 4]
%y = linear(%below, %w) : f32[B, 3]
%loss = cross_entropy(%y, %labels) : f32[]
output loss = %loss
)");
  ParameterStore parameters;
  insert_lora(graph, parameters, {.target = {"y"}, .rank = 2});
  add_training_step(graph, {});
  const std::string text = to_string(graph);
  EXPECT_NE(text.find("adamw.m.y.lora_A.weight"), std::string::npos);
  EXPECT_EQ(text.find("adamw.m.w"), std::string::npos);
  EXPECT_EQ(text.find("below.gradient"), std::string::npos);
}

TEST(InsertLora, SaysWhatDoesNotFit) {
  const auto refusal = [](const LoraOptions& options) {
    return message_of([&] {
      Graph graph = parse(kTwoLinears);
      ParameterStore parameters;
      insert_lora(graph, parameters, options);
    });
  };
  EXPECT_EQ(refusal({.target = {"key"}}),
            "no linear layer matches 'key' of target; the model's linear layers end in head, "
            "query; `hone plan` lists them");
  EXPECT_EQ(refusal({.target = {"qeury"}}),
            "no linear layer matches 'qeury' of target; did you mean 'query'? The model's linear "
            "layers end in head, query; `hone plan` lists them");
  EXPECT_EQ(refusal({.target = {"head"}, .modules_to_save = {"head"}}),
            "`modules_to_save` includes all linear layers of `target`");
  EXPECT_EQ(refusal({.modules_to_save = {"pooler"}}),
            "no module matches 'pooler' of `modules_to_save`; `hone inspect` lists them");
  EXPECT_EQ(refusal({.rank = 0}), "`r` must be at least 1, got 0");
  EXPECT_EQ(refusal({.dropout = 1}), "`dropout` must be at least 0 and below 1, got 1");
  Graph graph = parse(kTwoLinears);
  ParameterStore parameters;
  insert_lora(graph, parameters, of_query());
  EXPECT_EQ(message_of([&] { insert_lora(graph, parameters, of_query()); }),
            "layer.query has an adapter already; fuse it first");
}

TEST(InsertLora, LeavesAdaptersInFullPrecision) {
  Graph graph = parse(kTwoLinears);
  remove_quantizers(graph);
  ParameterStore parameters;
  insert_lora(graph, parameters, of_query());
  const Format format = parse_format("mxint(bits=8)", references().formats);
  quantize(graph, uniform_plan(graph, LayerFormats::reads(format)));
  EXPECT_EQ(quantizer_names(graph),
            (std::set<std::string>{"b.quantizer", "w.quantizer", "head.weight.quantizer",
                                   "layer.query.input_quantizer", "head.input_quantizer"}));
}

TEST(FuseLora, AddsAdaptersToTheWeights) {
  Graph graph = parse(kTwoLinears);
  ParameterStore parameters;
  RandomSequence random(1, 2);
  const auto drawn = [&](const Sizes& sizes) {
    Tensor tensor = Tensor::empty(DType::f32, sizes);
    for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
    return tensor;
  };
  for (const auto& [name, sizes] : {std::pair("w", Sizes{3, 4}), std::pair("b", Sizes{3}),
                                    std::pair("head.weight", Sizes{2, 3})})
    parameters.set(name, drawn(sizes));
  remove_quantizers(graph);
  const std::string before = to_string(graph);
  insert_lora(graph, parameters, of_query());
  parameters.set("layer.query.lora_B.weight", drawn({3, 2}));
  const NamedTensors inputs = {{"x", drawn({5, 4})}};
  const std::vector<float> unmerged = elements_of(run_graph(graph, inputs, parameters).at("y"));
  EXPECT_TRUE(fuse_lora(graph, parameters));
  EXPECT_EQ(to_string(graph), before);
  const std::vector<float> merged = elements_of(run_graph(graph, inputs, parameters).at("y"));
  // References sum in double. Only the rounding of merged weights and adapter outputs differs: 2^-24 of about ten units
  // through two layers.
  for (std::size_t i = 0; i < merged.size(); ++i) EXPECT_NEAR(merged[i], unmerged[i], 1e-5);
  EXPECT_FALSE(fuse_lora(graph, parameters));
}

TEST(FuseLora, LetsTheKeyOfItsDropoutsGo) {
  Graph graph = parse(R"(%x = input : f32[B, 4]
%w = parameter weight trainable : f32[3, 4]
%y = linear(%x, %w) : f32[B, 3]
output y = %y
)");
  const std::string before = to_string(graph);
  ParameterStore parameters;
  parameters.set("w", Tensor::zeros(DType::f32, {3, 4}));
  insert_lora(graph, parameters, {.rank = 2, .dropout = 0.5});
  EXPECT_NE(to_string(graph).find("random_key"), std::string::npos);
  fuse_lora(graph, parameters);
  EXPECT_EQ(to_string(graph), before);
}

TEST(FuseLora, RefusesPackedWeights) {
  Graph graph = parse(R"(%x = input : f32[B, 32]
%c = parameter codes frozen : u8[1024]
%h = parameter codes frozen : u8[32]
%w = unpack(%c, %h) {format=mxint(bits=8,block=32,axis=-1), shape=[32, 32], arrangement="panels"} : f32[32, 32]
%y = linear(%x, %w) : f32[B, 32]
output y = %y
)");
  ParameterStore parameters;
  insert_lora(graph, parameters, {});
  EXPECT_EQ(
      message_of([&] { fuse_lora(graph, parameters); }),
      "the weight of y is packed, and nothing can be added to its codes; unpack the model first");
}

}  // namespace
}  // namespace hone::testing
