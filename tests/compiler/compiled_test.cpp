#include "hone/compiler/compiled.h"

#include <cmath>
#include <numeric>
#include <set>

#include "hone/autodiff/gradients.h"
#include "hone/compiler/generated_code.h"
#include "hone/ops/of_formula.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "hone/train/training_graph.h"
#include "tests/compiler/own_cache.h"
#include "tests/runtime/kernel_cases.h"
#include "tests/support/tiny_model.h"

// Compares compiled graphs with the interpreter.
namespace hone::testing {
namespace {

using namespace hone::compiler;

class CompiledGraphs : public GeneratedCodeTest {};

constexpr double kNear = 1e-5;  // relative to the largest value of a tensor

NamedTensors run_by(Executor executor, const Graph& graph, const NamedTensors& inputs,
                    ParameterStore parameters = {}, int threads = 1,
                    const Library& library = builtin()) {
  ThreadPool pool(threads);
  const Session session{.library = library, .pool = pool, .executor = executor};
  return session.executable(graph)->run(inputs, parameters);
}

void expect_near(const NamedTensors& got, const NamedTensors& expected, const std::string& what) {
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(got.at(name).sizes(), tensor.sizes());
    if (tensor.dtype() != DType::f32) continue;
    const std::vector<float> a = floats_of(got.at(name)), b = floats_of(tensor);
    double largest = 1e-30;
    for (const float value : b) largest = std::max(largest, std::fabs(static_cast<double>(value)));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      ASSERT_NEAR(a[i], b[i], kNear * largest) << name << " element " << i << " of " << what;
    }
  }
}

TEST_F(CompiledGraphs, AgreeWithTheInterpreter) {
  for (const KernelCase& kernel_case : kernel_cases()) {
    const Graph graph = parse_graph(kernel_case.text, builtin().ops, builtin().formats);
    const auto run = [&](Executor executor) {
      return run_by(executor, graph, draw_inputs(graph, kernel_case));
    };
    expect_near(run(compiled), run(interpreted), kernel_case.text);
  }
}

// Returns a graph with the loss and all gradients of a model.
Graph with_gradients(const Model& model, bool prepared, NamedTensors& batch) {
  Graph graph = model.graph;
  if (prepared)
    if (const auto layout = prepare_for_gradients(graph))
      batch = without_padding(std::move(batch), *layout);
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), trainable);
  for (std::size_t i = 0; i < trainable.size(); ++i)
    if (gradients[i]) graph.set_output("d " + trainable[i].node->name(), gradients[i]);
  return graph;
}

NamedTensors tiny_batch() {
  std::vector<std::int64_t> rows(9);
  std::iota(rows.begin(), rows.end(), 0);
  NamedTensors batch = text_examples(tiny_texts(9)).batch(rows, 0);
  batch["random_key"] = Tensor::scalar<std::int64_t>(77);
  return batch;
}

TEST_F(CompiledGraphs, GiveTheInterpretersGradients) {
  const Model model = tiny_model();
  for (const bool prepared : {false, true}) {
    NamedTensors batch = tiny_batch();
    const Graph graph = with_gradients(model, prepared, batch);
    const NamedTensors got = run_by(compiled, graph, batch, model.parameters);
    expect_near(got, run_by(interpreted, graph, batch, model.parameters), "the tiny model");
    for (const int threads : {2, 3})
      for (const auto& [name, tensor] : run_by(compiled, graph, batch, model.parameters, threads))
        ASSERT_EQ(floats_of(tensor), floats_of(got.at(name))) << name << " by " << threads;
  }
}

// Rounding to a format is not compiled yet, and a difference in the last place may round to another value of the
// format. So only models without quantization are compared.
TEST_F(CompiledGraphs, Train) {
  const Model model = tiny_model();
  const auto losses = [&](Executor executor, int threads, DType values = DType::f32) {
    ThreadPool pool(threads);
    std::vector<double> all;
    ParameterStore parameters = model.parameters;
    const TrainingOptions options{
        .optimizer = {.learning_rate = 1e-3}, .max_steps = 60, .batch_size = 12};
    train(model.graph, parameters, text_examples(tiny_texts(96)), options,
          {.library = builtin(), .pool = pool, .executor = executor, .values = values},
          {.on_step = [&](const StepRecord& record) { all.push_back(record.loss); }});
    return all;
  };
  const std::vector<double> expected = losses(interpreted, 1), got = losses(compiled, 1);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-4 * std::max(1.0, expected[i])) << "step " << i;
  EXPECT_EQ(losses(compiled, 3), got);

  // bf16 operations are not fused. A difference in the last place elsewhere may round to the next bf16, 2^-8 away.
  const std::vector<double> wide = losses(interpreted, 1, DType::bf16),
                            fused = losses(compiled, 1, DType::bf16);
  for (std::size_t i = 0; i < fused.size(); ++i)
    EXPECT_NEAR(fused[i], wide[i], std::ldexp(std::max(1.0, wide[i]), -7)) << "step " << i;
  EXPECT_NE(fused, got);
  EXPECT_EQ(losses(compiled, 3, DType::bf16), fused);
}

TEST_F(CompiledGraphs, AreCompiledOnceForAllLengths) {
  const std::string text = R"(%x = input : f32[B, S, 5]
%row = input : f32[5]
%column = input : f32[B, S, 1]
%kept = input : bool[B, S, 5]
%sum = add(%x, %row) : f32[B, S, 5]
%product = mul(%sum, %column) : f32[B, S, 5]
%masked = mask(%product, %kept) : f32[B, S, 5]
%y = gelu(%masked) {approximate="none"} : f32[B, S, 5]
%last = reshape(%x) {shape=[B, 5, S]} : f32[B, 5, S]
%scaled = scale(%last) {factor=0.125} : f32[B, 5, S]
%z = tanh(%scaled) : f32[B, 5, S]
output y = %y
output z = %z
)";
  const Graph graph = parse_graph(text, builtin().ops, builtin().formats);
  ThreadPool pool(2);
  ParameterStore none;
  const CodeCounts before = code_counts();
  const Session session{.library = builtin(), .pool = pool, .executor = compiled};
  const auto executable = session.executable(graph);
  EXPECT_EQ(code_counts().compiled - before.compiled, 2);
  Interpreter interpreter(graph, builtin(), pool);
  for (std::int64_t length = 1; length <= 200; ++length) {
    NamedTensors inputs;
    const std::int64_t batch = 1 + length % 7;
    RandomSequence random(1, static_cast<std::uint64_t>(length));
    for (const auto& [name, sizes] : {std::pair<std::string, Sizes>{"x", {batch, length, 5}},
                                      {"row", {5}},
                                      {"column", {batch, length, 1}}}) {
      Tensor tensor = Tensor::empty(DType::f32, sizes);
      for (float& value : tensor.values<float>())
        value = static_cast<float>(4 * random.uniform() - 2);
      inputs[name] = tensor;
    }
    Tensor kept = Tensor::empty(DType::boolean, {batch, length, 5});
    for (bool& value : kept.values<bool>()) value = random.below(2) == 1;
    inputs["kept"] = kept;
    expect_near(executable->run(inputs, none), interpreter.run(inputs, none),
                fmt::format("length {}", length));
  }
  EXPECT_EQ(code_counts().compiled - before.compiled, 2);
  EXPECT_EQ(code_counts().loaded - before.loaded, 2);
}

// A user-defined activation that has only a formula.
const Library& with_quick_gelu() {
  static const Library library = [] {
    Library extended = builtin_library();
    const OpDef op = of_formula({.name = "quick_gelu",
                                 .summary = "y = x sigmoid(1.702 x)",
                                 .inputs = {"x"},
                                 .formula = [](const Attributes&, std::span<const Formula> in) {
                                   return std::vector{in[0] / (1 + exp(-1.702 * in[0]))};
                                 }});
    extended.ops.emplace(op.name, op);
    return extended;
  }();
  return library;
}

TEST_F(CompiledGraphs, GenerateCodeForAUsersFormula) {
  Graph graph = parse_graph(R"(%x = input : f32[B]
%y = quick_gelu(%x) : f32[B]
%loss = sum_to(%y) {shape=[]} : f32[]
output y = %y
output loss = %loss
)",
                            with_quick_gelu().ops, with_quick_gelu().formats);
  graph.set_output("dx", add_gradients(graph, graph.output("loss"), {{graph.find("x"), 0}})[0]);
  Tensor x = Tensor::empty(DType::f32, {1001});
  for (std::int64_t i = 0; i < x.count(); ++i)
    x.data<float>()[i] = static_cast<float>(i - 500) / 100;
  const NamedTensors expected = run_by(interpreted, graph, {{"x", x}}, {}, 1, with_quick_gelu());
  EXPECT_FLOAT_EQ(floats_of(expected.at("y"))[600], 0.8457958f);
  EXPECT_FLOAT_EQ(floats_of(expected.at("dx"))[500], 0.5f);
  ThreadPool pool(1);
  ParameterStore none;
  const Session session{.library = with_quick_gelu(), .pool = pool, .executor = compiled};
  const auto executable = session.executable(graph);
  std::vector<OperationSpan> spans;
  executable->record(&spans);
  expect_near(executable->run({{"x", x}}, none), expected, "quick_gelu");
  std::set<std::string> kernels;
  for (const auto& [name, time] : kernel_times(spans)) kernels.insert(name);
  EXPECT_TRUE(kernels.contains("elementwise / generated"));
  EXPECT_FALSE(kernels.contains("quick_gelu / reference"));
}

TEST_F(CompiledGraphs, TakeNaNAndEmptyTensors) {
  const Graph graph = parse(R"(%x = input : f32[B]
%a = scale(%x) {factor=2.0} : f32[B]
%y = relu(%a) : f32[B]
output y = %y
)");
  const auto y = [&](const Tensor& x) {
    return floats_of(run_by(compiled, graph, {{"x", x}}).at("y"));
  };
  EXPECT_TRUE(std::isnan(y(Tensor::of<float>({2}, {std::nanf(""), 1}))[0]));
  EXPECT_TRUE(y(Tensor::empty(DType::f32, {0})).empty());
}

}  // namespace
}  // namespace hone::testing
