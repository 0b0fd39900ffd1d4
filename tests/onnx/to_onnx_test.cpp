#include "hone/onnx/to_onnx.h"

#include <fmt/ranges.h>

#include "hone/passes/dead_code.h"
#include "hone/passes/pack.h"
#include "hone/passes/remove_dropout.h"
#include "tests/frontends/golden.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone::testing {
namespace {

std::string text_of(const OnnxAttribute& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return fmt::format("[{}]", fmt::join(held, ", "));
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

// Prints a node on a line: "y = Softmax(x) axis=-1".
std::string text_of(const OnnxModel& model) {
  std::string text;
  for (const OnnxNode& node : model.nodes) {
    text += fmt::format("{} = {}({})", node.outputs[0], node.op, fmt::join(node.inputs, ", "));
    for (const auto& [name, value] : node.attributes)
      text += fmt::format(" {}={}", name, text_of(value));
    text += '\n';
  }
  return text;
}

OnnxModel exported(std::string_view graph, const ParameterStore& parameters = {},
                   int opset = kUsualOpset) {
  return to_onnx(parse(graph), parameters, "test", opset);
}

std::string nodes_of(std::string_view graph, int opset = kUsualOpset) {
  return text_of(exported(graph, {}, opset));
}

TEST(ToOnnx, NamesResultsAfterNodesAndOutputs) {
  EXPECT_EQ(nodes_of(R"(%x = input : f32[B, 4]
%a = softmax(%x) : f32[B, 4]
%b = transpose(%a) {axes=[1, 0]} : f32[4, B]
output y = %b
)"),
            "a = Softmax(x) axis=-1\n"
            "y = Transpose(a) perm=[1, 0]\n");
}

TEST(ToOnnx, OutputsThatAreInputsOrOtherOutputsGetANode) {
  EXPECT_EQ(nodes_of(R"(%x = input : f32[B, 4]
%a = softmax(%x) : f32[B, 4]
output y = %a
output z = %a
output w = %x
)"),
            "y = Softmax(x) axis=-1\n"
            "z = Identity(y)\n"
            "w = Identity(x)\n");
}

TEST(ToOnnx, WritesElementwiseOperationsAsTheirFormulas) {
  EXPECT_EQ(nodes_of(R"(%x = input : f32[B, 4]
%s = scale(%x) {factor=0.5} : f32[B, 4]
%y = elementwise(%s, %x) {formula="tanh(x0) + x1"} : f32[B, 4]
output y = %y
)"),
            "s = Mul(constant, x)\n"
            "y.Tanh = Tanh(s)\n"
            "y = Add(y.Tanh, x)\n");
}

TEST(ToOnnx, GeluIsAnOperatorFromOpset20OnAndAFormulaBefore) {
  constexpr std::string_view kGraph = R"(%x = input : f32[B, 4]
%y = gelu(%x) : f32[B, 4]
output y = %y
)";
  EXPECT_EQ(nodes_of(kGraph), "y = Gelu(x) approximate=none\n");
  EXPECT_NE(nodes_of(kGraph, 19).find("Erf("), std::string::npos);
}

TEST(ToOnnx, SizesThatARunDecidesAreReadFromAnInput) {
  EXPECT_EQ(nodes_of(R"(%x = input : f32[B, S, 4]
%t = input : f32[9, 4]
%p = slice(%t) {axis=0, size=[S]} : f32[S, 4]
%h = reshape(%x) {shape=[B, S, 2, 2]} : f32[B, S, 2, 2]
output p = %p
output h = %h
)"),
            "p.Shape = Shape(x) start=1 end=2\n"
            "p = Slice(t, constant, p.Shape, constant)\n"
            "h = Reshape(x, constant_1)\n");
}

TEST(ToOnnx, LinearsOfRowsAreGemmAndOthersMatMul) {
  const OnnxModel model = exported(R"(%x = input : f32[B, S, 2]
%w = parameter weight frozen : f32[3, 2]
%b = parameter bias frozen : f32[3]
%y = linear(%x, %w, %b) : f32[B, S, 3]
%r = input : f32[B, 2]
%z = linear(%r, %w) : f32[B, 3]
output y = %y
output z = %z
)",
                                   ParameterStore({{"w", Tensor::zeros(DType::f32, {3, 2})},
                                                   {"b", Tensor::zeros(DType::f32, {3})}}));
  EXPECT_EQ(text_of(model),
            "y.Transpose = Transpose(w) perm=[1, 0]\n"
            "y.MatMul = MatMul(x, y.Transpose)\n"
            "y = Add(y.MatMul, b)\n"
            "z = Gemm(r, w) transB=1\n");
  ASSERT_EQ(model.constants.size(), 2U);
  EXPECT_EQ(model.constants[0].name, "w");
  EXPECT_EQ(model.constants[0].sizes, (Sizes{3, 2}));
}

TEST(ToOnnx, NamesAllOperationsWithoutAForm) {
  expect_user_error("does not support these operations of the graph: dropout, sum_to", [] {
    exported(R"(%x = input : f32[B, 4]
%key = input : i64[]
%d = dropout(%x, %key) {p=0.1, stream=1} : f32[B, 4]
%s = sum_to(%d) {shape=[4]} : f32[4]
output y = %s
)");
  });
}

TEST(ToOnnx, BiasesInFewBitsHaveANodeOfTheirOwn) {
  const Model model = tiny_model();
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  LayerFormats formats;
  formats.weight = formats.bias = parse_format("int(bits=4,scale=dynamic)", builtin().formats);
  quantize(graph, uniform_plan(graph, formats));
  ThreadPool pool(1);
  ParameterStore parameters = model.parameters;
  pack_weights(graph, parameters, pool);
  int additions = 0;
  for (const OnnxNode& node : to_onnx(graph, parameters, "test").nodes) {
    if (node.op != "Add") continue;
    ++additions;
    for (const std::string& input : node.inputs) EXPECT_FALSE(input.empty()) << node.name;
  }
  EXPECT_GT(additions, 0);
}

TEST(ToOnnx, WritesAttentionAsItsSteps) {
  const OnnxModel model = exported(R"(%q = input : f32[B, S, 2, 4]
%m = input : f32[B, 1, 1, S]
%y = attention(%q, %q, %q, %m) {scale=0.5} : f32[B, S, 2, 4]
output y = %y
)");
  std::vector<std::string> operators;
  for (const OnnxNode& node : model.nodes) operators.push_back(node.op);
  EXPECT_EQ(operators, (std::vector<std::string>{"Transpose", "Transpose", "Transpose", "MatMul",
                                                 "Mul", "Add", "Softmax", "MatMul", "Transpose"}));
}

TEST(ToOnnx, RefusesOtherOpsets) {
  const auto with_opset = [](int opset) {
    return [opset] { exported("%x = input : f32[B]\noutput y = %x\n", {}, opset); };
  };
  expect_user_error("`opset` must be from 18 to 23, got 17", with_opset(17));
  expect_user_error("got 24", with_opset(24));
}

TEST(ToOnnx, ExportsAllGoldenModelsWithTheirParametersByName) {
  for (const std::string& name : golden_models()) {
    SCOPED_TRACE(name);
    const Model model =
        load_model(kGoldenModels / name, builtin().ops, builtin().formats, /*seed=*/1);
    Graph graph = forward_graph(model);
    remove_dropout(graph);
    remove_dead_code(graph);
    const OnnxModel onnx = to_onnx(graph, model.parameters, name);
    ASSERT_EQ(onnx.outputs.size(), 1U);
    EXPECT_EQ(onnx.outputs[0].name, "logits");
    EXPECT_EQ(onnx.inputs[0].name, "input_ids");
    std::set<std::string> constants;
    for (const OnnxConstant& constant : onnx.constants)
      EXPECT_TRUE(constants.insert(constant.name).second) << constant.name;
    for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
      const auto found = std::ranges::find(onnx.constants, parameter->name(), &OnnxConstant::name);
      ASSERT_NE(found, onnx.constants.end()) << parameter->name();
      EXPECT_EQ(found->sizes, model.parameters.at(parameter->name()).sizes());
    }
    // Each value is computed once, before it is read.
    std::set<std::string> known = constants;
    for (const OnnxValue& input : onnx.inputs) known.insert(input.name);
    for (const OnnxNode& node : onnx.nodes) {
      for (const std::string& input : node.inputs) EXPECT_TRUE(known.contains(input)) << input;
      EXPECT_TRUE(known.insert(node.outputs[0]).second) << node.outputs[0];
    }
    EXPECT_TRUE(known.contains("logits"));
  }
}

}  // namespace
}  // namespace hone::testing
