#include <gtest/gtest.h>

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"
#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

// An operation from outside the library, as in docs/developers/adding-an-operation.md: records, a row in a copy of the
// table, and a kernel. Nothing else knows its name.
namespace hone::testing {
namespace {

// y = x sigmoid(x): Ramachandran, Zoph and Le, "Searching for activation functions", 2017.
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double swish_of(double x) { return x * sigmoid(x); }
double swish_derivative(double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }

std::vector<OpDef> swish() {
  return {{.name = "swish",
           .summary = "y = x sigmoid(x)",
           .inputs = {"x"},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = same_as_first,
           .reference = [](Call& call) { reference::map(call, swish_of); },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("swish_gradient", {c.input(0), c.output_gradient()})};
           },
           .flops = one_per_element},
          {.name = "swish_gradient",
           .summary = "dx = dy swish'(x)",
           .inputs = {"x", "dy"},
           .trait = Trait::element_wise,
           .infer = same_as_first,
           .reference =
               [](Call& call) {
                 reference::map2(call,
                                 [](double x, double dy) { return dy * swish_derivative(x); });
               },
           .flops = one_per_element}};
}

// The kernel: fp32, in chunks that do not depend on the number of threads.
void swish_kernel(Call& call) {
  const std::int64_t count = call.input(0).count();
  const float* x = call.input(0).data<float>();
  float* y = call.output().data<float>();
  parallel_ranges(call.pool(), count, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
  });
}

std::string_view any_input(const CallSite&) { return ""; }

const Library& with_swish() {
  static const Library library = [] {
    Library extended = builtin_library();
    for (const OpDef& op : swish()) extended.ops.emplace(op.name, op);
    extended.kernels.insert(extended.kernels.begin(),
                            {"swish", "cpu", "mine", any_input, swish_kernel});
    return extended;
  }();
  return library;
}

const std::string kGraph = R"(%x = input : f32[B]
%y = swish(%x) : f32[B]
%loss = sum_to(%y) {shape=[]} : f32[]
output y = %y
output loss = %loss
)";

Graph parse_swish() { return parse_graph(kGraph, with_swish().ops, with_swish().formats); }

TEST(Swish, PrintsAndParses) { EXPECT_EQ(to_string(parse_swish()), kGraph); }

TEST(Swish, IsKnownToTheCopyOfTheTableAlone) {
  EXPECT_EQ(message_of([] { parse(kGraph); }), "graph text, line 2: unknown operation 'swish'");
}

TEST(Swish, Runs) {
  const NamedTensors inputs = {{"x", Tensor::of<float>({3}, {0, 1, -20})}};
  const std::vector<float> y =
      elements_of(run_graph(parse_swish(), inputs, {}, with_swish()).at("y"));
  EXPECT_EQ(y[0], 0);
  EXPECT_FLOAT_EQ(y[1], 0.7310585786f);
  EXPECT_FLOAT_EQ(y[2], -20 / (1 + std::exp(20.0f)));
}

// The derivative at 0 is 1/2; at 1, s + s (1 - s) with s = 0.7310585786.
TEST(Swish, Differentiates) {
  Graph graph = parse_swish();
  const Value x{graph.find("x"), 0};
  graph.set_output("dx", add_gradients(graph, graph.output("loss"), {x})[0]);
  verify(graph);
  const NamedTensors inputs = {{"x", Tensor::of<float>({2}, {0, 1})}};
  const std::vector<float> dx = elements_of(run_graph(graph, inputs, {}, with_swish()).at("dx"));
  EXPECT_FLOAT_EQ(dx[0], 0.5f);
  EXPECT_FLOAT_EQ(dx[1], 0.7310585786f + 0.1966119332f);
}

TEST(Swish, HasAKernelThatAgreesWithTheReference) {
  Tensor x = Tensor::empty(DType::f32, {10007});
  for (std::int64_t i = 0; i < x.count(); ++i)
    x.data<float>()[i] = static_cast<float>(i - 5000) / 512;
  Library slow = with_swish();
  std::erase_if(slow.kernels, [](const Kernel& kernel) { return kernel.op == "swish"; });
  const Graph graph = parse_swish();
  const auto run = [&](const Library& library, int threads) {
    ThreadPool pool(threads);
    ParameterStore none;
    return elements_of(Interpreter(graph, library, pool).run({{"x", x}}, none).at("y"));
  };
  const std::vector<float> expected = run(slow, 1), got = run(with_swish(), 1);
  // exp, a sum and a quotient: three roundings and the error of exp.
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 4 * 0x1p-23 * std::fabs(expected[i])) << i;
  EXPECT_EQ(run(with_swish(), 3), got);
}

}  // namespace
}  // namespace hone::testing
