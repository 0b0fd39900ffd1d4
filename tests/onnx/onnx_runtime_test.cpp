#include "hone/onnx/onnx_runtime.h"

#include <cmath>

#include "hone/onnx/onnx_file.h"
#include "hone/onnx/to_onnx.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/pack.h"
#include "hone/passes/remove_dropout.h"
#include "tests/frontends/golden.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

// Compares exported graphs in ONNX Runtime, if Python has it, with the reference kernels.
namespace hone::testing {
namespace {

class LongInOnnxRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = python_with_onnx_runtime();
    if (!python_) GTEST_SKIP() << "neither $HONE_PYTHON nor python3 imports onnxruntime and numpy";
  }

  // Expects each output of ONNX Runtime within `tolerance` of the largest value of the reference output.
  void expect_same(const Graph& graph, const ParameterStore& parameters, const NamedTensors& inputs,
                   int opset = kUsualOpset, double tolerance = 1e-4,
                   const OnnxFileOptions& options = {}) {
    const fs::path file = folder_.path() / "model.onnx";
    write_onnx(to_onnx(graph, parameters, "test", opset), file, options);
    TensorMap given;
    for (const Node* input : graph.of_kind(NodeKind::input))
      given.emplace(input->name(), inputs.at(input->name()));
    const NamedTensors expected = run_graph(graph, given, parameters, builtin());
    const OnnxRuntimeRuns runs =
        run_in_onnx_runtime(*python_, file, {given}, {.exact_products = true});
    ASSERT_EQ(runs.outputs.size(), 1U);
    for (const auto& [name, tensor] : expected) {
      const std::vector<float> wanted = elements_of(tensor),
                               got = elements_of(runs.outputs[0].at(name));
      ASSERT_EQ(got.size(), wanted.size()) << name;
      double largest = 0, apart = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(wanted[i])));
        apart = std::max(apart,
                         std::fabs(static_cast<double>(wanted[i]) - static_cast<double>(got[i])));
      }
      EXPECT_LE(apart, tolerance * largest) << name;
    }
  }
  void expect_same(std::string_view text, const NamedTensors& inputs, int opset = kUsualOpset) {
    expect_same(parse(text), {}, inputs, opset);
  }

  TemporaryFolder folder_;
  std::optional<std::string> python_;
};

TEST_F(LongInOnnxRuntime, GoldenModelsGiveTheSameLogits) {
  for (const std::string& name : golden_models()) {
    SCOPED_TRACE(name);
    const Model model =
        load_model(kGoldenModels / name, builtin().ops, builtin().formats, /*seed=*/1);
    Graph graph = forward_graph(model);
    remove_dropout(graph);
    remove_dead_code(graph);
    const Json batches =
        parse_json(read_file(kGoldenModels / name / "expected.json"), name)["inputs"];
    NamedTensors inputs = golden_inputs(batches[0]);
    const Tensor ids = inputs.at("input_ids");
    inputs.emplace("attention_mask",
                   Tensor::of(ids.sizes(),
                              std::vector<std::int64_t>(static_cast<std::size_t>(ids.count()), 1)));
    inputs.emplace("token_type_ids", Tensor::zeros(DType::i64, ids.sizes()));
    expect_same(graph, model.parameters, inputs);
    if (fuse_attention(graph)) expect_same(graph, model.parameters, inputs);
  }
}

TEST_F(LongInOnnxRuntime, PoolingsIgnoreWhatTheMaskLeavesOut) {
  const Tensor x = Tensor::of<float>({2, 2, 2}, {1, -2, 3, 4, 5, 6, -7, -8}),
               mask = Tensor::of<std::int64_t>({2, 2}, {1, 0, 1, 1});
  for (const char* mode : {"mean", "max", "mean_sqrt_len"}) {
    SCOPED_TRACE(mode);
    expect_same(fmt::format(R"(%x = input : f32[B, S, 2]
%mask = input : i64[B, S]
%p = pool_tokens(%x, %mask) {{mode="{}"}} : f32[B, 2]
%y = normalize(%p) : f32[B, 2]
output y = %y
)",
                            mode),
                {{"x", x}, {"mask", mask}});
  }
}

TEST_F(LongInOnnxRuntime, ActivationsAreTheSameInEveryOpset) {
  const Tensor x = Tensor::of<float>({2, 3}, {-3, -0.5F, 0, 0.25F, 1, 4});
  for (const int opset : {kOldestOpset, kUsualOpset, kNewestOpset})
    for (const char* operation :
         {"gelu(%x)", "gelu(%x) {approximate=\"tanh\"}", "relu(%x)", "tanh(%x)",
          "elementwise(%x, %x) {formula=\"select(x0 < 0, -x0, sqrt(x1))\"}"}) {
      SCOPED_TRACE(fmt::format("{} in opset {}", operation, opset));
      expect_same(
          fmt::format("%x = input : f32[B, 3]\n%y = {} : f32[B, 3]\noutput y = %y\n", operation),
          {{"x", x}}, opset);
    }
}

TEST_F(LongInOnnxRuntime, FullAndTokenPositionsAreTheSame) {
  expect_same(R"(%ids = input : i64[B, S]
%table = input : f32[9, 2]
%p = token_positions(%ids) {padding=1} : i64[B, S]
%y = embedding(%p, %table) : f32[B, S, 2]
%t = full(%ids) {value=2.0, dtype="i64"} : i64[B, S]
%z = embedding(%t, %table) : f32[B, S, 2]
output y = %y
output z = %z
)",
              {{"ids", Tensor::of<std::int64_t>({2, 3}, {4, 5, 1, 6, 1, 7})},
               {"table", Tensor::of<float>({9, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                                    14, 15, 16, 17})}});
}

// Packed weights have the same values in ONNX, whatever their format.
TEST_F(LongInOnnxRuntime, PackedWeightsHaveTheSameValues) {
  for (const char* format :
       {"int(bits=8,per=row,scale=dynamic)", "int(bits=8,scale=dynamic)", "int(bits=4,group=32)",
        "int(bits=4,group=16,range=affine)", "int(bits=8,per=row,scale=dynamic,range=affine)",
        "integer(width=8,frac=6)", "mxint(bits=8)", "mxfp", "nf4"}) {
    SCOPED_TRACE(format);
    Model model = tiny_model();
    Graph graph = forward_graph(model);
    remove_dropout(graph);
    LayerFormats weights;
    weights.weight = parse_format(format, builtin().formats);
    quantize(graph, uniform_plan(graph, weights));
    ThreadPool pool(1);
    ParameterStore parameters = model.parameters;
    pack_weights(graph, parameters, pool);
    const Tensor ids = Tensor::of<std::int64_t>({2, 3}, {2, 5, 3, 2, 9, 3});
    expect_same(graph, parameters,
                {{"input_ids", ids},
                 {"attention_mask", Tensor::of<std::int64_t>({2, 3}, {1, 1, 1, 1, 1, 1})},
                 {"token_type_ids", Tensor::zeros(DType::i64, {2, 3})}});
  }
}

TEST_F(LongInOnnxRuntime, RowsOfPackedTablesAreTheSame) {
  for (const char* format : {"int(bits=8,per=row,scale=dynamic)", "int(bits=8,scale=dynamic)",
                             "int(bits=4,group=2)", "mxfp"}) {
    SCOPED_TRACE(format);
    Graph graph = parse(fmt::format(R"(%ids = input : i64[B, S]
%table = parameter weight frozen : f32[3, 4]
%q = quantize(%table) {{format={}}} : f32[3, 4]
%y = embedding(%ids, %q) : f32[B, S, 4]
output y = %y
)",
                                    format));
    ParameterStore parameters(
        {{"table", Tensor::of<float>({3, 4}, {1, -2, 3, 4, 5, 6, -7, 8, 0.5F, 0, 0.25F, -1})}});
    ThreadPool pool(1);
    pack_weights(graph, parameters, pool);
    expect_same(graph, parameters, {{"ids", Tensor::of<std::int64_t>({1, 3}, {2, 0, 1})}});
  }
}

TEST_F(LongInOnnxRuntime, InputsWithKnownScalesAreRoundedTheSame) {
  const Tensor x = Tensor::of<float>({2, 4}, {-3, -0.5F, 0, 0.26F, 1.1F, 4, 1.9F, -2.2F});
  for (const char* format : {"integer(width=8,frac=4)", "integer(width=4,frac=1)"}) {
    SCOPED_TRACE(format);
    expect_same(fmt::format("%x = input : f32[B, 4]\n%y = quantize(%x) {{format={}}} : f32[B, 4]\n"
                            "output y = %y\n",
                            format),
                {{"x", x}});
  }
}

TEST_F(LongInOnnxRuntime, WeightsInASecondFileAreRead) {
  const Model model = tiny_model();
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  expect_same(graph, model.parameters,
              {{"input_ids", Tensor::of<std::int64_t>({1, 3}, {2, 5, 3})},
               {"attention_mask", Tensor::of<std::int64_t>({1, 3}, {1, 1, 1})},
               {"token_type_ids", Tensor::zeros(DType::i64, {1, 3})}},
              kUsualOpset, 1e-4, {.largest_file = 20000});
  EXPECT_TRUE(fs::exists(folder_.path() / "model.onnx.data"));
}

// Only roughly: ONNX has one scale for all values of a call. With 7 bits no CPU saturates.
TEST_F(LongInOnnxRuntime, ProductsOfIntegersAreClose) {
  Graph graph = parse(R"(%x = input : f32[B, S, 4]
%w = parameter weight frozen : f32[3, 4]
%b = parameter bias frozen : f32[3]
%r = quantize(%x) {format=int(bits=8,per=token)} : f32[B, S, 4]
%q = quantize(%w) {format=int(bits=7,per=row,scale=dynamic)} : f32[3, 4]
%y = linear(%r, %q, %b) : f32[B, S, 3]
output y = %y
)");
  ParameterStore parameters(
      {{"w", Tensor::of<float>({3, 4}, {1, -2, 3, 4, 5, 6, -7, 8, 0.5F, 0, 0.25F, -1})},
       {"b", Tensor::of<float>({3}, {1, 0, -1})}});
  ThreadPool pool(1);
  pack_weights(graph, parameters, pool);
  const OnnxModel model = to_onnx(graph, parameters, "test");
  EXPECT_NE(std::ranges::find(model.nodes, "MatMulInteger", &OnnxNode::op), model.nodes.end());
  EXPECT_EQ(model.notes.size(), 2U);
  expect_same(graph, parameters,
              {{"x", Tensor::of<float>({1, 2, 4}, {1, 2, 3, 4, -1, 0.5F, 2, -3})}}, kUsualOpset,
              /*tolerance=*/0.02);
}

TEST_F(LongInOnnxRuntime, WeightsInSixteenBitsAreClose) {
  const Model model = tiny_model();
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  const fs::path file = folder_.path() / "model.onnx";
  for (const auto& [type, onnx_type] :
       {std::pair(DType::f16, OnnxType::f16), std::pair(DType::bf16, OnnxType::bf16)}) {
    const OnnxModel onnx = to_onnx(graph, model.parameters, "test", kUsualOpset, type);
    EXPECT_EQ(std::ranges::find(onnx.constants, "classifier.weight", &OnnxConstant::name)->type,
              onnx_type);
    write_onnx(onnx, file);
    const OnnxRuntimeRuns runs =
        run_in_onnx_runtime(*python_, file,
                            {{{"input_ids", Tensor::of<std::int64_t>({1, 3}, {2, 5, 3})},
                              {"attention_mask", Tensor::of<std::int64_t>({1, 3}, {1, 1, 1})},
                              {"token_type_ids", Tensor::zeros(DType::i64, {1, 3})}}});
    EXPECT_EQ(runs.outputs[0].at("logits").sizes(), (Sizes{1, 2}));
  }
}

}  // namespace
}  // namespace hone::testing
