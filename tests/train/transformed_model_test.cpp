#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/models/transform.h"
#include "hone/passes/dead_code.h"
#include "hone/train/calibration.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

// A transformation changes only graph and parameters. Code that saves, loads, trains or predicts does not know about
// it.
namespace hone {
namespace {

using testing::builtin;

constexpr const char* kLayer0 = "bert.encoder.layer.0";

Tensor drawn(const Sizes& sizes, std::string_view stream) {
  Tensor tensor = Tensor::zeros(DType::f32, sizes);
  RandomSequence random(/*seed=*/7, stream_of(stream));
  for (float& value : tensor.values<float>()) value = static_cast<float>(0.3 * random.normal());
  return tensor;
}

// Replaces y = W x + b by W x + b + 2 B A x, with trainable A and B of rank 3 and a frozen W (Hu et al., "LoRA", 2021).
void add_low_rank_branch(Model& model, const std::string& layer) {
  Graph& graph = model.graph;
  Node& linear = *graph.find(layer);
  graph.set_trainable(*linear.inputs()[1].node, false);
  const std::int64_t rows = linear.types()[0].dim(-1).size,
                     columns = linear.inputs()[0].type().dim(-1).size;
  const auto factor = [&](const std::string& name, const Sizes& sizes) {
    model.parameters.set(name, drawn(sizes, name));
    return graph.add_parameter(name, {DType::f32, Shape(sizes.begin(), sizes.end())},
                               ParameterRole::adapter, /*trainable=*/true);
  };
  const Value a = factor(layer + ".lora_A.weight", {3, columns}),
              b = factor(layer + ".lora_B.weight", {rows, 3});
  const Node* const next = linear.users().front();
  const Value narrow = graph.add("linear", {linear.inputs()[0], a}, {}, layer + ".lora_A", next);
  const Value wide = graph.add("linear", {narrow, b}, {}, layer + ".lora_B", next);
  const Value scaled = graph.add("scale", {wide}, {{"factor", 2.0}}, layer + ".lora scaling", next);
  const Value sum = graph.add("add", {{&linear, 0}, scaled}, {}, layer + ".lora", next);
  graph.replace_uses({&linear, 0}, sum);
  graph.set_input(*sum.node, 0, {&linear, 0});
}

// Masks every third weight of a linear.
void add_mask(Model& model, const std::string& layer) {
  Graph& graph = model.graph;
  Node& linear = *graph.find(layer);
  const Value weight = linear.inputs()[1];
  const std::string name = layer + ".mask";
  Tensor mask = Tensor::zeros(DType::f32, resolve(weight.type().shape, {}));
  for (std::size_t i = 0; i < mask.values<float>().size(); ++i)
    mask.values<float>()[i] = i % 3 == 0 ? 0 : 1;
  model.parameters.set(name, mask);
  const Value kept = graph.add_parameter(name, weight.type(), ParameterRole::mask,
                                         /*trainable=*/false);
  graph.set_input(linear, 1, graph.add("mul", {weight, kept}, {}, layer + ".masked", &linear));
}

// Makes the second layer return its input.
void make_identity(Model& model) {
  const std::string name = "bert.encoder.layer.";
  model.graph.replace_uses({model.graph.find(name + "1.output.LayerNorm"), 0},
                           {model.graph.find(name + "0.output.LayerNorm"), 0});
  remove_dead_code(model.graph);
  follow_graph(model);
}

void quantize_some(Model& model) {
  const auto format = [](const char* text) { return parse_format(text, builtin().formats); };
  const std::string query = std::string(kLayer0) + ".attention.self.query",
                    dense = std::string(kLayer0) + ".intermediate.dense";
  ThreadPool pool(1);
  quantize_model(
      model,
      {{query, LayerFormats::reads(format("int(bits=8)"))},
       {std::string(kLayer0) + ".attention.self.key", {.weight = format("integer(width=8)")}},
       {dense, LayerFormats::reads(format("mxint(bits=6,block=16)"))}},
      {builtin(), pool});
  calibrate(forward_graph(model), model.parameters, text_examples(testing::tiny_texts(16)),
            {.batch_size = 8, .batch_count = 2}, {builtin(), pool});
}

Model transformed() {
  Model model = testing::tiny_model();
  add_low_rank_branch(model, std::string(kLayer0) + ".attention.self.query");
  add_mask(model, std::string(kLayer0) + ".intermediate.dense");
  make_identity(model);
  quantize_some(model);
  verify(model.graph);
  return model;
}

Model loaded(const fs::path& folder) {
  return load_model(folder, builtin().ops, builtin().formats, /*seed=*/1);
}

std::vector<float> logits_of(const Model& model) {
  ThreadPool pool(2);
  Predictor predictor(forward_graph(model), model.parameters, {builtin(), pool});
  return predictor.rows(text_examples(testing::tiny_texts(12)), /*batch_size=*/4);
}

ParameterStore trained(const Model& model, const Library& library, Device& device = cpu()) {
  ParameterStore parameters = model.parameters.on(device);
  ThreadPool pool(1);
  train(
      model.graph, parameters, text_examples(testing::tiny_texts(12)),
      {.optimizer = {.learning_rate = 1e-2, .weight_decay = 0.1}, .max_steps = 4, .batch_size = 4},
      {library, pool, device});
  return parameters;
}

TEST(TransformedModel, IsAnotherThanItWas) {
  const Model model = transformed();
  EXPECT_NE(logits_of(model), logits_of(testing::tiny_model()));
  EXPECT_EQ(model.graph.find("bert.encoder.layer.1.output.dense"), nullptr);
  EXPECT_NE(model.graph.find(std::string(kLayer0) + ".intermediate.dense.weight_quantizer"),
            nullptr)
      << "what is masked is a weight still";
}

TEST(TransformedModel, IsTheSameBitForBitWhenItWasSaved) {
  const TemporaryFolder folder, again;
  const Model model = transformed();
  save_model(model, folder.path());
  const Model read = loaded(folder.path());
  EXPECT_EQ(to_string(read.graph), to_string(model.graph));
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_EQ(read.parameters.tensors().size(), model.parameters.tensors().size());
  EXPECT_EQ(testing::changed_parameters(model.parameters, read.parameters),
            std::vector<std::string>{});
  EXPECT_EQ(logits_of(read), logits_of(model));
  save_model(read, again.path());
  for (const char* file : {"config.json", "graph.hone", "parameters.safetensors"})
    EXPECT_EQ(read_file(again.path() / file), read_file(folder.path() / file)) << file;
}

// Other programs would initialize the missing layers randomly.
TEST(TransformedModel, HasNoWeightsWhereOtherProgramsLook) {
  const TemporaryFolder folder;
  save_model(transformed(), folder.path());
  EXPECT_FALSE(path_exists(folder.path() / "model.safetensors"));
  EXPECT_NE(read_json(folder.path() / "config.json")["hone_notice"].get<std::string>().find(
                "transformers and other programs cannot load it"),
            std::string::npos);
}

TEST(TransformedModel, TrainsOnToTheSameBits) {
  const TemporaryFolder folder;
  const Model model = transformed();
  save_model(model, folder.path());
  const ParameterStore before = trained(model, builtin()),
                       after = trained(loaded(folder.path()), builtin());
  EXPECT_EQ(testing::changed_parameters(before, after), std::vector<std::string>{});
  const std::vector<std::string> moved = testing::changed_parameters(model.parameters, after);
  const auto has_moved = [&](const std::string& name) {
    return std::ranges::find(moved, name) != moved.end();
  };
  const std::string query = std::string(kLayer0) + ".attention.self.query";
  EXPECT_TRUE(has_moved(query + ".lora_A.weight"));
  EXPECT_TRUE(has_moved(query + ".lora_B.weight"));
  EXPECT_FALSE(has_moved(query + ".weight")) << "it is frozen";
  EXPECT_FALSE(has_moved(std::string(kLayer0) + ".intermediate.dense.mask"));
  EXPECT_TRUE(has_moved(std::string(kLayer0) + ".intermediate.dense.weight"));
}

TEST(TransformedModel, TrainsOnAnotherDevice) {
  testing::FakeDevice device;
  const Model model = transformed();
  EXPECT_EQ(testing::changed_parameters(trained(model, testing::references()),
                                        trained(model, testing::fake_library(), device)),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace hone
