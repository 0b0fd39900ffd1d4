#include "tests/runtime/fake_device.h"

#include <gtest/gtest.h>

#include <bit>

#include "hone/base/random.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "hone/train/training_graph.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"

// Graphs that run on the host also run on a second device and give the same bits.
namespace hone::testing {
namespace {

// Embeddings, two layers with every kind of operation for training a transformer, and a loss.
constexpr std::string_view kClassifier = R"(%input_ids = input : i64[B, S]
%attention_mask = input : i64[B, S]
%token_type_ids = input : i64[B, S]
%labels = input : i64[B]
%random_key = input : i64[]
%table = parameter weight trainable : f32[7, 4]
%gamma = parameter weight trainable : f32[4]
%beta = parameter weight trainable : f32[4]
%w.weight = parameter weight trainable : f32[6, 4]
%w.bias = parameter weight trainable : f32[6]
%head.weight = parameter weight frozen : f32[3, 6]
%words = embedding(%input_ids, %table) {padding=0} : f32[B, S, 4]
%normed = layer_norm(%words, %gamma, %beta) {eps=1e-05} : f32[B, S, 4]
%turned = transpose(%normed) {axes=[0, 2, 1]} : f32[B, 4, S]
%scores = matmul(%normed, %turned) : f32[B, S, S]
%scaled = scale(%scores) {factor=0.5} : f32[B, S, S]
%stacked = reshape(%scaled) {shape=[B, 1, S, S]} : f32[B, 1, S, S]
%mask = attention_mask(%attention_mask) : f32[B, 1, 1, S]
%masked = add(%stacked, %mask) : f32[B, 1, S, S]
%shares = softmax(%masked) : f32[B, 1, S, S]
%flat = reshape(%shares) {shape=[B, S, S]} : f32[B, S, S]
%mixed = matmul(%flat, %normed) : f32[B, S, 4]
%first = slice(%mixed) {axis=1, begin=0, size=[1]} : f32[B, 1, 4]
%pooled = reshape(%first) {shape=[B, 4]} : f32[B, 4]
%thinned = dropout(%pooled, %random_key) {p=0.25, stream=1} : f32[B, 4]
%x = quantize(%thinned) {format=integer(width=8,frac=5)} : f32[B, 4]
%h = linear(%x, %w.weight, %w.bias) : f32[B, 6]
%a = gelu(%h) {approximate="none"} : f32[B, 6]
%logits = linear(%a, %head.weight) : f32[B, 3]
%loss = cross_entropy(%logits, %labels) : f32[]
output logits = %logits
output loss = %loss
)";

ParameterStore random_parameters(const Graph& graph) {
  ParameterStore parameters;
  for (const Node* node : graph.of_kind(NodeKind::parameter)) {
    RandomSequence random(1, stream_of(node->name()));
    Tensor tensor = Tensor::empty(DType::f32, resolve(node->types()[0].shape, {}));
    for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
    parameters.set(node->name(), tensor);
  }
  return parameters;
}

EncodedSet random_data(std::int64_t examples) {
  RandomSequence random(1, stream_of("data"));
  EncodedSet data;
  for (std::int64_t i = 0; i < examples; ++i) {
    std::vector<std::int32_t> ids(2 + random.below(4));
    for (std::int32_t& id : ids) id = 1 + static_cast<std::int32_t>(random.below(6));
    data.ids.push_back(ids);
    data.labels.push_back(static_cast<std::int32_t>(random.below(3)));
  }
  return data;
}

std::vector<std::uint32_t> bits_of(const Tensor& tensor) {
  std::vector<std::uint32_t> bits;
  for (const float value : elements_of(tensor)) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

TEST(FakeDevice, RefusesTheHost) {
  FakeDevice device;
  const Tensor tensor = Tensor::zeros(DType::f32, {4}, device);
  EXPECT_EQ(assertion_of([&] { tensor.data<float>(); }), "host access to memory of device fake:0");
  EXPECT_EQ(elements_of(tensor), (std::vector<float>{0, 0, 0, 0}));
}

TEST(FakeDeviceDeathTest, EndsTheProgramOnAStrayAccess) {
  FakeDevice device;
  const Tensor tensor = Tensor::zeros(DType::f32, {4}, device);
  device.wait();  // memory is accessible while the queue writes zeros
  EXPECT_DEATH(*tensor.device_pointer() = std::byte{1}, "");
}

TEST(FakeDevice, WorksThroughItsQueueInOrder) {
  FakeDevice device(1);
  EXPECT_EQ(to_string(device), "fake:1");
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) device.put([&done, i] { done.push_back(i); });
  device.wait();
  ASSERT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  device.put([] { fail("a kernel that fails"); });
  device.put([&done] { done.clear(); });
  EXPECT_EQ(message_of([&] { device.wait(); }), "a kernel that fails");
  EXPECT_TRUE(done.empty());
  device.wait();  // the error is reported only once
}

// A kernel for one format takes precedence over the kernel for all formats.
TEST(FakeDevice, ChoosesAQuantizerByItsFormat) {
  FakeDevice device;
  const Graph graph = parse(R"(%x = input : f32[2]
%y = quantize(%x) {format=integer(width=8,frac=5)} : f32[2]
%z = quantize(%y) {format=bf16} : f32[2]
output z = %z
)");
  ThreadPool pool(1);
  Interpreter interpreter(graph, fake_library(), pool, device);
  std::vector<OperationSpan> spans;
  interpreter.record(&spans);
  ParameterStore none;
  const Tensor z = interpreter.run({{"x", Tensor::of<float>({2}, {0.51f, 9})}}, none).at("z");
  EXPECT_EQ(elements_of(z), (std::vector<float>{0.5f, 3.96875f}));
  std::vector<std::string> kernels;
  for (const auto& [name, time] : kernel_times(spans)) kernels.push_back(name);
  EXPECT_EQ(kernels, (std::vector<std::string>{"quantize / integer", "quantize / reference"}));
}

// Threads of the host cannot access its memory.
TEST(FakeDevice, HasNoThreadsOfTheHost) {
  FakeDevice device;
  Library library = fake_library();
  std::erase_if(library.kernels, [](const Kernel& kernel) { return kernel.op == "tanh"; });
  library.kernels.push_back({"tanh", "fake", "of the host",
                             [](const CallSite&) -> std::string_view { return ""; },
                             [](Call& call) { call.pool().run(1, [](std::int64_t) {}); }});
  const Graph graph = parse(R"(%x = input : f32[2]
%y = tanh(%x) : f32[2]
output y = %y
)");
  ThreadPool pool(1);
  Interpreter interpreter(graph, library, pool, device);
  ParameterStore none;
  const NamedTensors inputs = {{"x", Tensor::of<float>({2}, {1, 2})}};
  EXPECT_EQ(assertion_of([&] { interpreter.run(inputs, none); }),
            "a kernel on fake:0 requested host threads");
}

TEST(FakeDevice, TakesMemoryBack) {
  FakeDevice device;
  {
    const Tensor tensor = Tensor::zeros(DType::f32, {16}, device);
    EXPECT_EQ(device.used_bytes(), 64u);
  }
  EXPECT_EQ(device.used_bytes(), 0u);
}

TEST(FakeDevice, MovesAParameterStoreThereAndBack) {
  FakeDevice device;
  const Graph graph = parse(kClassifier);
  const ParameterStore host = random_parameters(graph);
  const ParameterStore there = host.on(device), back = there.on(cpu());
  for (const auto& [name, tensor] : host.tensors()) {
    EXPECT_EQ(&there.at(name).device(), &device);
    EXPECT_EQ(bits_of(back.at(name)), bits_of(tensor));
  }
  EXPECT_EQ(there.on(device).at("table").storage(), there.at("table").storage());
}

TEST(FakeDevice, CopiesASharedParameterOnTheDevice) {
  FakeDevice device;
  ParameterStore original;
  original.set("w", Tensor::of<float>({2}, {1, 2}).on(device));
  ParameterStore copy = original;
  const Tensor& writable = copy.writable("w");
  EXPECT_EQ(&writable.device(), &device);
  EXPECT_NE(writable.storage(), original.at("w").storage());
  EXPECT_EQ(elements_of(writable), (std::vector<float>{1, 2}));
}

TEST(FakeDevice, RunsAGraphWithTheBitsOfTheHost) {
  FakeDevice device;
  const Graph graph = parse(kClassifier);
  const ParameterStore host = random_parameters(graph);
  ParameterStore there = host.on(device);
  const NamedTensors inputs = {
      {"input_ids", Tensor::of<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 0})},
      {"attention_mask", Tensor::of<std::int64_t>({2, 3}, {1, 1, 1, 1, 1, 0})},
      {"labels", Tensor::of<std::int64_t>({2}, {2, 0})},
      {"random_key", Tensor::scalar<std::int64_t>(11)}};
  ThreadPool pool(1);
  const NamedTensors outputs = Interpreter(graph, fake_library(), pool, device).run(inputs, there);
  EXPECT_EQ(&outputs.at("logits").device(), &device);
  const NamedTensors expected = run_graph(graph, inputs, host);
  EXPECT_EQ(bits_of(outputs.at("logits")), bits_of(expected.at("logits")));
  EXPECT_EQ(bits_of(outputs.at("loss")), bits_of(expected.at("loss")));
}

TEST(FakeDevice, TrainsWithTheBitsOfTheHost) {
  FakeDevice device;
  const Graph graph = parse(kClassifier);
  const EncodedSet data = random_data(10);
  TrainingOptions options;
  options.optimizer.learning_rate = 0.1;
  options.batch_size = 4;
  options.epochs = 2;
  ThreadPool pool(1);
  ParameterStore host = random_parameters(graph), there = host.on(device);
  const ParameterStore before = host;
  const auto run = [&](ParameterStore& parameters, const Library& library, Device& where) {
    return train(graph, parameters, text_examples(data), options, {library, pool, where});
  };
  const TrainingResult expected = run(host, references(), cpu());
  const TrainingResult result = run(there, fake_library(), device);
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.mean_loss, expected.mean_loss);
  for (const auto& [name, tensor] : host.tensors()) {
    EXPECT_EQ(bits_of(there.at(name)), bits_of(tensor)) << name;
    EXPECT_EQ(bits_of(tensor) == bits_of(before.at(name)), name == "head.weight") << name;
  }
}

TEST(FakeDevice, NamesAnOperationWithoutAKernel) {
  FakeDevice device;
  Library library = fake_library();
  std::erase_if(library.kernels, [](const Kernel& kernel) { return kernel.op == "tanh"; });
  library.kernels.push_back({"tanh", "fake", "fussy",
                             [](const CallSite&) -> std::string_view { return "it never likes x"; },
                             nullptr});
  const Graph graph = parse(R"(%x = input : f32[2]
%y = tanh(%x) : f32[2]
output y = %y
)");
  ThreadPool pool(1);
  EXPECT_EQ(message_of([&] { Interpreter(graph, library, pool, device); }),
            "for %y (tanh): no kernel on fake:0; fussy: it never likes x");
}

TEST(FakeDevice, IsNoPlaceForParametersOfTheHost) {
  FakeDevice device;
  const Graph graph = parse(R"(%w = parameter weight frozen : f32[2]
%y = tanh(%w) : f32[2]
output y = %y
)");
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({2}, {1, 2}));
  ThreadPool pool(1);
  Interpreter interpreter(graph, fake_library(), pool, device);
  EXPECT_EQ(assertion_of([&] { interpreter.run({}, parameters); }),
            "parameter w is on cpu:0, the graph runs on fake:0");
}

}  // namespace
}  // namespace hone::testing
