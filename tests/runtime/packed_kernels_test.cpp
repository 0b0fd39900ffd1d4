#include "hone/runtime/native_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "hone/ir/parse.h"
#include "hone/passes/pack.h"
#include "hone/runtime/library.h"
#include "hone/runtime/run_passes.h"

// Compares products that read packed codes with the simulation of the same formats, which rounds values and sums in
// fp32.
namespace hone {
namespace {

Tensor drawn(const Sizes& sizes, std::uint64_t seed) {
  RandomSequence random(seed, 1);
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
  return tensor;
}

struct Case {
  const char *weight, *input;
  const char* kernel;  // the kernel that runs it
  bool same_bits;      // sums in the same order as the simulation
};

constexpr Case kCases[] = {
    {"mxint(bits=8,block=32)", "", "packed_linear / codes", true},
    {"mxint(bits=4,block=16)", "", "packed_linear / codes", true},
    {"mxint(bits=3,block=20)", "", "packed_linear / codes", true},
    {"mxfp(element=e4m3,block=32)", "", "packed_linear / codes", true},
    {"mxfp(element=e2m1,block=32)", "", "packed_linear / codes", true},
    {"block_fp(width=6,exponent_width=4,block=16)", "", "packed_linear / codes", true},
    {"ternary", "", "packed_linear / codes", true},
    {"binary", "", "packed_linear / codes", true},
    {"minifloat_ieee(width=6,exponent_width=3,exponent_bias=3)", "", "packed_linear / codes", true},
    {"log(width=8,exponent_bias=7)", "", "packed_linear / codes", true},
    {"int(bits=5,per=row)", "", "packed_linear / codes", true},
    {"int(bits=4,per=row,range=affine)", "", "packed_linear / codes", true},
    {"int(bits=8,range=affine)", "", "packed_linear / codes", true},
    {"bf16", "", "packed_linear / codes", true},
    {"fp16", "", "packed_linear / codes", true},
    {"int(bits=8,per=row,range=affine,scale=dynamic)", "", "packed_linear / codes", true},
    {"int(bits=5,range=affine,scale=dynamic)", "", "packed_linear / codes", true},
    {"int(bits=4,group=32)", "", "packed_linear / codes", true},
    {"int(bits=4,group=32,asymmetric=true)", "", "packed_linear / codes", true},
    {"int(bits=8,group=1000,asymmetric=true)", "", "packed_linear / codes", true},
    {"int(bits=3,group=40)", "", "packed_linear / codes", true},
    {"nf4", "", "packed_linear / codes", true},
    {"int(bits=8,mode=mase)", "", "packed_linear / rows", true},
    {"mxint(bits=8,block=32,mode=mase)", "", "packed_linear / rows", true},
    {"minifloat_ieee(width=12,exponent_width=5)", "", "packed_linear / rows", true},
    {"int(bits=12,per=row)", "", "packed_linear / rows", true},
    {"mxint(bits=16,block=32)", "", "packed_linear / rows", true},
    {"bf16", "bf16", "native_linear / bf16", false},
    {"bf16", "fp16", "packed_linear / codes", true},
    {"binary", "binary", "native_linear / signs", false},
    {"binary(scale=none)", "binary(scale=none)", "native_linear / signs", false},
    {"mxint(bits=8,block=32)", "mxint(bits=8,block=32)", "native_linear / integers", false},
    {"mxint(bits=4,block=64)", "mxint(bits=8,block=64)", "native_linear / integers", false},
    {"mxint(bits=6,block=32)", "mxint(bits=7,block=32,scale=ceil)", "native_linear / integers",
     false},
    {"mxfp(element=e2m1,block=32)", "mxint(bits=8,block=32)", "native_linear / integers", false},
    {"int(bits=4,group=32)", "mxint(bits=8,block=32)", "native_linear / integers", false},
    {"int(bits=4,group=64,asymmetric=true)", "mxint(bits=8,block=64)", "native_linear / integers",
     false},
    {"int(bits=8,group=16,asymmetric=true)", "mxint(bits=8,block=16)", "native_linear / integers",
     false},
    {"int(bits=3,group=128)", "mxint(bits=8,block=128)", "native_linear / integers", false},
    {"int(bits=2,group=32,asymmetric=true)", "mxint(bits=6,block=32)", "native_linear / integers",
     false},
    {"int(bits=4,group=32)", "int(bits=8,per=token)", "packed_linear / codes", true},
    {"nf4(block=32)", "mxint(bits=8,block=32)", "packed_linear / codes", true},
    {"int(bits=8,per=row)", "int(bits=8,per=token)", "native_linear / integers", false},
    {"int(bits=4,per=row,scale=dynamic)", "int(bits=8,per=token)", "native_linear / integers",
     false},
    {"ternary", "int(bits=8,per=token)", "native_linear / integers", false},
    {"binary", "int(bits=8,per=token)", "native_linear / integers", false},
    {"int(bits=8)", "int(bits=8,scale=static)", "native_linear / integers", false},
    {"int(bits=8,per=row)", "mxint(bits=8,block=32)", "packed_linear / codes", true},
    {"mxint(bits=8,block=32)", "mxint(bits=8,block=16)", "packed_linear / codes", true},
};

class PackedProducts : public ::testing::TestWithParam<Case> {};

TEST_P(PackedProducts, AreThoseOfTheSimulation) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{library, pool};
  const auto [weight_format, input_format, kernel, same_bits] = GetParam();
  // Columns that are not a multiple of 64, and rows that are not a multiple of a panel.
  constexpr std::int64_t kRows = 37, kOutputs = 70, kInputs = 96;
  Graph graph(library.ops);
  ParameterStore store;
  const auto quantized = [&](Value value, const std::string& name, const char* text,
                             const Tensor& seen) {
    const Format format = parse_format(text, library.formats);
    const std::vector<Tensor> state = calibrate_tensor(format, seen.sizes(), seen.values<float>());
    std::vector<Value> inputs = {value};
    for (std::size_t i = 0; i < state.size(); ++i) {
      const std::string own = fmt::format("{}.{}", name, i);
      Shape shape;
      for (const std::int64_t size : state[i].sizes()) shape.emplace_back(size);
      inputs.push_back(
          graph.add_parameter(own, {DType::f32, shape}, ParameterRole::format_state, false));
      store.set(own, state[i]);
    }
    return graph.add("quantize", inputs, {{"format", format}}, name);
  };
  const Tensor x = drawn({kRows, kInputs}, 1), w = drawn({kOutputs, kInputs}, 2),
               b = drawn({kOutputs}, 3), r = drawn({kRows, kOutputs}, 4);
  Value input = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), Dim(kInputs)}});
  const Value weight = graph.add_parameter("w", {DType::f32, {Dim(kOutputs), Dim(kInputs)}},
                                           ParameterRole::weight, true);
  const Value bias =
      graph.add_parameter("b", {DType::f32, {Dim(kOutputs)}}, ParameterRole::bias, true);
  store.set("w", w);
  store.set("b", b);
  if (*input_format != '\0') input = quantized(input, "xq", input_format, x);
  const Value rounded = quantized(weight, "wq", weight_format, w);
  const Value y = graph.add("linear", {input, rounded, bias}, {}, "y");
  const Value residual = graph.add_input("r", {DType::f32, {Dim::of_symbol('B'), Dim(kOutputs)}});
  graph.set_output("y", graph.add("add", {graph.add("gelu", {y}, {}, "z"), residual}, {}, "sum"));

  Graph simulated = graph;
  ParameterStore plain = store;
  prepare_for_inference(simulated, plain, session);
  const Tensor expected = session.executable(simulated)->run({{"x", x}, {"r", r}}, plain).at("y");

  ASSERT_TRUE(pack_weights(graph, store, pool));
  const bool is_native = std::string_view(kernel).starts_with("native_linear");
  EXPECT_EQ(arithmetic_of_run(graph, session), is_native ? "native" : "packed");
  prepare_for_inference(graph, store, session);
  // Otherwise their weights would not be prepared once.
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("native_linear") && !node->is("packed_linear")) continue;
    EXPECT_TRUE(node->attributes().get<bool>("residual"));
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      const bool is_computed = operand_role(*node, i) == OperandRole::input;
      EXPECT_TRUE(is_computed || node->inputs()[i].node->kind() == NodeKind::parameter);
    }
  }
  const auto executable = session.executable(graph);
  std::vector<OperationSpan> spans;
  executable->record(&spans);
  // The third run uses the prepared weights.
  for (int run = 0; run < 3; ++run) {
    const Tensor got = executable->run({{"x", x}, {"r", r}}, store).at("y");
    for (std::int64_t i = 0; i < got.count(); ++i) {
      const float value = got.data<float>()[i], wanted = expected.data<float>()[i];
      // Each of the K terms is rounded once in either order. The error is K 2^-24 of the sum of magnitudes, about 3 K
      // for factors of a few units. gelu's slope is below 1.13.
      const double tolerance = same_bits ? 0 : 1.13 * kInputs * 3.0 * kInputs * 0x1p-24;
      ASSERT_NEAR(value, wanted, tolerance) << weight_format << " " << input_format << " at " << i;
    }
  }
  EXPECT_TRUE(kernel_times(spans).contains(kernel));
}

int preparations = 0;

// With a residual, which is an operand but not a parameter.
TEST(PackedProductsWithResiduals, PrepareTheirWeightsOnce) {
  static Library library = builtin_library();
  for (Kernel& kernel : library.kernels) {
    if (kernel.op != "native_linear" || kernel.prepare == nullptr) continue;
    static const auto prepare = kernel.prepare;
    kernel.prepare = [](const Call& call) {
      ++preparations;
      return prepare(call);
    };
  }
  ThreadPool pool(1);
  const Session session{library, pool};
  Graph graph = parse_graph(R"(%x = input : f32[B, 32]
%r = input : f32[B, 32]
%w = parameter weight trainable : f32[32, 32]
%b = parameter bias trainable : f32[32]
%s = parameter format_state frozen : f32[32]
%q = quantize(%x) {format=int(bits=8,per=token)} : f32[B, 32]
%v = quantize(%w, %s) {format=int(bits=8,per=row,scale=static)} : f32[32, 32]
%y = linear(%q, %v, %b) : f32[B, 32]
%z = add(%y, %r) : f32[B, 32]
output z = %z
)",
                            library.ops, library.formats);
  ParameterStore store;
  store.set("w", drawn({32, 32}, 1));
  store.set("b", drawn({32}, 2));
  store.set("s", Tensor::of<float>({32}, std::vector<float>(32, 0.03f)));
  pack_weights(graph, store, pool);
  prepare_for_inference(graph, store, session);
  const auto executable = session.executable(graph);
  for (int run = 0; run < 4; ++run)
    executable->run({{"x", drawn({5, 32}, 3)}, {"r", drawn({5, 32}, 4)}}, store);
  EXPECT_EQ(preparations, 1);
}

INSTANTIATE_TEST_SUITE_P(Each, PackedProducts, ::testing::ValuesIn(kCases));

// Query, key and value of an attention, whose inputs have equal calibrated scales.
TEST(NativeProducts, ShareTheCodesOfWhatTheyRead) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{library, pool};
  for (const char* input : {"int(bits=8,per=token)", "int(bits=8,scale=static)"}) {
    const bool states = std::string_view(input).ends_with("static)");
    Graph graph(library.ops);
    ParameterStore store;
    const Value x = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), Dim(32)}});
    for (const std::string name : {"q", "k", "v"}) {
      const Value w = graph.add_parameter(name + ".w", {DType::f32, {Dim(32), Dim(32)}},
                                          ParameterRole::weight, true);
      const Value b =
          graph.add_parameter(name + ".b", {DType::f32, {Dim(32)}}, ParameterRole::bias, true);
      store.set(name + ".w", drawn({32, 32}, 1));
      store.set(name + ".b", drawn({32}, 2));
      std::vector<Value> read = {x};
      if (states) {
        read.push_back(
            graph.add_parameter(name + ".s", {DType::f32, {}}, ParameterRole::format_state, false));
        store.set(name + ".s", Tensor::scalar(0.02f));
      }
      const Value rounded =
          graph.add("quantize", read, {{"format", parse_format(input, library.formats)}});
      const Value weight = graph.add(
          "quantize", {w},
          {{"format", parse_format("int(bits=8,per=row,scale=dynamic)", library.formats)}});
      graph.set_output(name, graph.add("linear", {rounded, weight, b}, {}, name));
    }
    const NamedTensors inputs = {{"x", drawn({19, 32}, 3)}};
    ParameterStore plain = store;
    const NamedTensors expected = session.executable(graph)->run(inputs, plain);
    ASSERT_TRUE(pack_weights(graph, store, pool));
    prepare_for_inference(graph, store, session);
    const auto executable = session.executable(graph);
    std::vector<OperationSpan> spans;
    executable->record(&spans);
    const NamedTensors got = executable->run(inputs, store);
    EXPECT_EQ(kernel_times(spans).at("encode_rows / rows").calls, 1) << input;
    EXPECT_EQ(kernel_times(spans).at("native_linear / integers").calls, 3) << input;
    for (const auto& [name, tensor] : expected)
      for (std::int64_t i = 0; i < tensor.count(); ++i)
        ASSERT_NEAR(got.at(name).data<float>()[i], tensor.data<float>()[i], 1e-4) << name;
  }
}

// Two consecutive products with calibrated inputs, as in a feed-forward block.
TEST(NativeProducts, GiveTheCodesThatTheNextOneReadsWithTheSameBits) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  Graph graph = parse_graph(R"(%x = input : f32[B, 32]
%w = parameter weight trainable : f32[70, 32]
%b = parameter bias trainable : f32[70]
%s = parameter format_state frozen : f32[]
%w2 = parameter weight trainable : f32[32, 70]
%b2 = parameter bias trainable : f32[32]
%s2 = parameter format_state frozen : f32[]
%q = quantize(%x, %s) {format=int(bits=8,scale=static)} : f32[B, 32]
%v = quantize(%w) {format=int(bits=8,per=row,scale=dynamic)} : f32[70, 32]
%h = linear(%q, %v, %b) : f32[B, 70]
%g = gelu(%h) : f32[B, 70]
%q2 = quantize(%g, %s2) {format=int(bits=8,scale=static)} : f32[B, 70]
%v2 = quantize(%w2) {format=int(bits=8,per=row,scale=dynamic)} : f32[32, 70]
%y = linear(%q2, %v2, %b2) : f32[B, 32]
output y = %y
)",
                            library.ops, library.formats);
  ParameterStore store;
  store.set("w", drawn({70, 32}, 1));
  store.set("b", drawn({70}, 2));
  store.set("s", Tensor::scalar(0.02f));
  store.set("w2", drawn({32, 70}, 3));
  store.set("b2", drawn({32}, 4));
  store.set("s2", Tensor::scalar(0.1f));
  ASSERT_TRUE(pack_weights(graph, store, pool));
  const NamedTensors inputs = {{"x", drawn({19, 32}, 5)}};
  const auto run = [&](const Library& with, bool fused) {
    PassWatch watch;
    if (!fused) watch.skipped.insert("fuse_codes");
    const Session session{.library = library, .pool = pool, .watch = &watch};
    Graph prepared = graph;
    ParameterStore parameters = store;
    prepare_for_inference(prepared, parameters, session);
    const Session running{with, pool};
    const auto executable = running.executable(prepared);
    std::vector<OperationSpan> spans;
    executable->record(&spans);
    Tensor y = executable->run(inputs, parameters).at("y");
    EXPECT_EQ(kernel_times(spans).contains(with.kernels.empty() ? "native_linear_codes / reference"
                                                                : "native_linear_codes / integers"),
              fused);
    return y;
  };
  Library references = library;
  references.kernels.clear();
  for (const Library& with : {library, references}) {
    const Tensor expected = run(with, false), got = run(with, true);
    EXPECT_TRUE(std::ranges::equal(got.values<float>(), expected.values<float>()));
  }
}

// Compares ordinary values. The kernel chooses its own encoding of NaN and zeros.
TEST(EncodeRows, HasTheBytesOfItsReference) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  for (const char* format : {"int(bits=8,per=token)", "int(bits=5,per=token)", "mxint(block=32)",
                             "mxint(bits=6,block=64)", "mxint(block=16,scale=ceil)"}) {
    for (const std::int64_t rows : {1, 3, 6, 20}) {
      Graph graph(library.ops);
      const Value x = graph.add_input("x", {DType::f32, {Dim(rows), Dim(100)}});
      graph.set_output(
          "y", graph.add("encode_rows", {x}, {{"format", parse_format(format, library.formats)}}));
      const NamedTensors inputs = {{"x", drawn({rows, 100}, 3)}};
      ParameterStore none;
      Library references = library;
      references.kernels.clear();
      const auto run = [&](const Library& with) {
        const Session session{with, pool};
        return session.executable(graph)->run(inputs, none).at("y");
      };
      const Tensor expected = run(references), got = run(library);
      EXPECT_TRUE(std::ranges::equal(got.values<std::uint8_t>(), expected.values<std::uint8_t>()))
          << format << " of " << rows;
    }
  }
}

// Classifier heads are stored in rows. The last case exceeds what is decoded at once.
TEST(PackedProducts, ByRowsAreThoseOfTheSimulation) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{library, pool};
  for (const auto& [format, rows, columns] :
       {std::tuple("mxint(bits=8,block=32)", 3, 40), std::tuple("bf16", 3, 40),
        std::tuple("int(bits=4,per=row,scale=dynamic)", 3, 40),
        std::tuple("minifloat_ieee(width=11)", 3, 40),
        std::tuple("minifloat_ieee(width=11)", 200, 4000)}) {
    Graph graph =
        parse_graph(fmt::format(R"(%x = input : f32[B, {1}]
%w = parameter weight trainable : f32[{0}, {1}]
%b = parameter bias trainable : f32[{0}]
%q = quantize(%w) {{format={2}}} : f32[{0}, {1}]
%y = linear(%x, %q, %b) : f32[B, {0}]
output y = %y
)",
                                rows, columns, to_string(parse_format(format, library.formats))),
                    library.ops, library.formats);
    ParameterStore store;
    store.set("w", drawn({rows, columns}, 5));
    store.set("b", drawn({rows}, 6));
    const NamedTensors inputs = {{"x", drawn({7, columns}, 7)}};
    Graph simulated = graph;
    ParameterStore plain = store;
    prepare_for_inference(simulated, plain, session);
    const Tensor expected = session.executable(simulated)->run(inputs, plain).at("y");
    pack_weights(graph, store, pool);
    prepare_for_inference(graph, store, session);
    const auto executable = session.executable(graph);
    std::vector<OperationSpan> spans;
    executable->record(&spans);
    for (int run = 0; run < 3; ++run) {
      const Tensor got = executable->run(inputs, store).at("y");
      EXPECT_TRUE(std::ranges::equal(got.values<float>(), expected.values<float>())) << format;
    }
    EXPECT_TRUE(kernel_times(spans).contains("packed_linear / rows")) << format;
  }
}

TEST(PackedEmbedding, GivesTheRowsOfTheTable) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{library, pool};
  for (const char* format :
       {"mxint(bits=8,block=32)", "int(bits=3,per=row,scale=dynamic)", "mxfp(element=e2m1)", "bf16",
        "fp16", "minifloat_ieee(width=11)", "int(bits=8,mode=mase)",
        "int(bits=4,per=row,range=affine,scale=dynamic)"}) {
    Graph graph = parse_graph(fmt::format(R"(%ids = input : i64[B]
%t = parameter weight trainable : f32[50, 40]
%q = quantize(%t) {{format={}}} : f32[50, 40]
%x = embedding(%ids, %q) {{padding=-1}} : f32[B, 40]
output x = %x
)",
                                          to_string(parse_format(format, library.formats))),
                              library.ops, library.formats);
    ParameterStore store;
    store.set("t", drawn({50, 40}, 5));
    const NamedTensors inputs = {{"ids", Tensor::of<std::int64_t>({4}, {49, 0, 7, 7})}};
    ParameterStore plain = store;
    const Tensor expected = session.executable(graph)->run(inputs, plain).at("x");
    pack_weights(graph, store, pool);
    prepare_for_inference(graph, store, session);
    const auto executable = session.executable(graph);
    std::vector<OperationSpan> spans;
    executable->record(&spans);
    const Tensor got = executable->run(inputs, store).at("x");
    EXPECT_TRUE(std::ranges::equal(got.values<float>(), expected.values<float>())) << format;
    EXPECT_TRUE(kernel_times(spans).contains("packed_embedding / rows"));
    const NamedTensors outside = {{"ids", Tensor::of<std::int64_t>({1}, {50})}};
    EXPECT_THROW(executable->run(outside, store), UserError);
  }
}

TEST(PackedRows, AreTheRowsOfTheTable) {
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{library, pool};
  for (const char* format : {"mxint(bits=8,block=32)", "int(bits=4,per=row,range=affine)", "bf16",
                             "minifloat_ieee(width=14)"}) {
    const Format parsed = parse_format(format, library.formats);
    const bool states = !states_of(parsed).empty();
    Graph graph = parse_graph(
        fmt::format(R"(%x = input : f32[S, 40]
%t = parameter weight trainable : f32[50, 40]
{}%q = quantize(%t{}) {{format={}}} : f32[50, 40]
%p = slice(%q) {{axis=0, begin=2, size=[S]}} : f32[S, 40]
%y = add(%x, %p) : f32[S, 40]
output y = %y
)",
                    states ? "%s = parameter format_state frozen : f32[50]\n%z = parameter "
                             "format_state frozen : f32[50]\n"
                           : "",
                    states ? ", %s, %z" : "", to_string(parsed)),
        library.ops, library.formats);
    ParameterStore store;
    const Tensor table = drawn({50, 40}, 5);
    store.set("t", table);
    if (states) {
      const std::vector<Tensor> state = calibrate_tensor(parsed, {50, 40}, table.values<float>());
      store.set("s", state[0]);
      store.set("z", state[1]);
    }
    const NamedTensors inputs = {{"x", drawn({7, 40}, 6)}};
    ParameterStore plain = store;
    const Tensor expected = session.executable(graph)->run(inputs, plain).at("y");
    pack_weights(graph, store, pool);
    prepare_for_inference(graph, store, session);
    const auto executable = session.executable(graph);
    std::vector<OperationSpan> spans;
    executable->record(&spans);
    const Tensor got = executable->run(inputs, store).at("y");
    EXPECT_TRUE(std::ranges::equal(got.values<float>(), expected.values<float>())) << format;
    EXPECT_TRUE(kernel_times(spans).contains("packed_rows / rows"));
    const NamedTensors longer = {{"x", drawn({49, 40}, 6)}};
    EXPECT_THROW(executable->run(longer, store), UserError);
  }
}

TEST(NativeInput, SaysWhyThereIsNone) {
  const Library library = builtin_library();
  const auto of = [&](const char* text) { return parse_format(text, library.formats); };
  EXPECT_EQ(to_string(native_input(of("bf16"), library.formats)), "bf16");
  EXPECT_EQ(native_unsupported_reason(of("bf16")), "");
  EXPECT_EQ(native_unsupported_reason(of("bf16"), InputScales::calibrated),
            "inputs of products with weights in bf16 have no scales; omit `static`, or use "
            "int weights without groups");
  const std::string objection = native_unsupported_reason(of("fp16"));
  EXPECT_NE(objection.find("native computation does not support weights in fp16"),
            std::string::npos);
  try {
    native_input(of("fp16"), library.formats);
    FAIL() << "fp16 has no such products";
  } catch (const UserError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with(objection)) << error.what();
  }
}

}  // namespace
}  // namespace hone
