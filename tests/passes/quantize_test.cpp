#include "hone/passes/quantize.h"

#include "hone/base/json.h"
#include "hone/ir/print.h"
#include "tests/passes/before_after.h"
#include "tests/support/message.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

auto quantize_to(std::string_view format) {
  return [format](Graph& graph) {
    return quantize(
        graph,
        uniform_plan(graph, LayerFormats::reads(parse_format(format, references().formats))));
  };
}

TEST(Quantize, PutsQuantizersInFrontOfEverythingALinearReads) {
  expect_after(R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%b = parameter weight trainable : f32[3]
%y = linear(%x, %w, %b) : f32[B, 3]
%z = relu(%y) : f32[B, 3]
output z = %z
)",
               quantize_to("integer(width=8,frac=4)"),
               R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%b = parameter weight trainable : f32[3]
%y.input_quantizer = quantize(%x) {format=integer(width=8,frac=4)} : f32[B, 2]
%w.quantizer = quantize(%w) {format=integer(width=8,frac=4)} : f32[3, 2]
%b.quantizer = quantize(%b) {format=integer(width=8,frac=4)} : f32[3]
%y = linear(%y.input_quantizer, %w.quantizer, %b.quantizer) : f32[B, 3]
%z = relu(%y) : f32[B, 3]
output z = %z
)");
}

TEST(Quantize, QuantizesASharedTensorOnceAndLeavesOtherReadersAlone) {
  expect_after(R"(%x = input : f32[B, 2]
%q = parameter weight trainable : f32[2, 2]
%k = parameter weight trainable : f32[2, 2]
%query = linear(%x, %q) : f32[B, 2]
%key = linear(%x, %k) : f32[B, 2]
%tied = linear(%key, %q) : f32[B, 2]
%sum = add(%x, %tied) : f32[B, 2]
output query = %query
output sum = %sum
)",
               quantize_to("integer(width=8,frac=4)"),
               R"(%x = input : f32[B, 2]
%q = parameter weight trainable : f32[2, 2]
%k = parameter weight trainable : f32[2, 2]
%query.input_quantizer = quantize(%x) {format=integer(width=8,frac=4)} : f32[B, 2]
%q.quantizer = quantize(%q) {format=integer(width=8,frac=4)} : f32[2, 2]
%query = linear(%query.input_quantizer, %q.quantizer) : f32[B, 2]
%k.quantizer = quantize(%k) {format=integer(width=8,frac=4)} : f32[2, 2]
%key = linear(%query.input_quantizer, %k.quantizer) : f32[B, 2]
%tied.input_quantizer = quantize(%key) {format=integer(width=8,frac=4)} : f32[B, 2]
%tied = linear(%tied.input_quantizer, %q.quantizer) : f32[B, 2]
%sum = add(%x, %tied) : f32[B, 2]
output query = %query
output sum = %sum
)");
}

TEST(Quantize, AddsTheStateOfTheFormatAsFrozenParameters) {
  expect_after(R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%y = linear(%x, %w) : f32[B, 3]
output y = %y
)",
               quantize_to("integer(width=8,frac=auto)"),
               R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%y.input_quantizer.frac = parameter format_state frozen : f32[]
%w.quantizer.frac = parameter format_state frozen : f32[]
%y.input_quantizer = quantize(%x, %y.input_quantizer.frac) {format=integer(width=8,frac=auto)} : f32[B, 2]
%w.quantizer = quantize(%w, %w.quantizer.frac) {format=integer(width=8,frac=auto)} : f32[3, 2]
%y = linear(%y.input_quantizer, %w.quantizer) : f32[B, 3]
output y = %y
)");
}

TEST(Quantize, LeavesGraphsWithoutLinearsAlone) {
  constexpr std::string_view text = R"(%x = input : f32[4]
%y = relu(%x) : f32[4]
output y = %y
)";
  expect_after(text, quantize_to("integer"), text);
}

TEST(Quantize, RefusesAnOperandThatIsQuantizedAlready) {
  Graph graph = parse(R"(%x = input : f32[2, 2]
%y = linear(%x, %x) : f32[2, 2]
output y = %y
)");
  const auto pass = quantize_to("integer(width=8,frac=4)");
  pass(graph);
  const std::string before = to_string(graph);
  EXPECT_EQ(message_of([&] { pass(graph); }),
            "%y: its input is already quantized (%y.input_quantizer); exclude it, or start "
            "from the unquantized model");
  EXPECT_EQ(to_string(graph), before);
}

Format format_of(std::string_view text) { return parse_format(text, references().formats); }

constexpr std::string_view kTwoLayers = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%b = parameter weight trainable : f32[2]
%y = linear(%x, %w, %b) : f32[B, 2]
%z = linear(%y, %w) : f32[B, 2]
output z = %z
)";

TEST(Quantize, FollowsThePlanLayerByLayerAndOperandByOperand) {
  const Format coarse = format_of("integer(width=4,frac=2)"),
               fine = format_of("integer(width=8,frac=4)");
  expect_after(
      kTwoLayers,
      [&](Graph& graph) {
        return quantize(graph, {{"y", {.weight = coarse, .output = fine}},
                                {"z", {.input = fine, .weight = fine}}});
      },
      R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%b = parameter weight trainable : f32[2]
%w.quantizer = quantize(%w) {format=integer(width=4,frac=2)} : f32[2, 2]
%y = linear(%x, %w.quantizer, %b) : f32[B, 2]
%y.output_quantizer = quantize(%y) {format=integer(width=8,frac=4)} : f32[B, 2]
%z.input_quantizer = quantize(%y.output_quantizer) {format=integer(width=8,frac=4)} : f32[B, 2]
%z.weight_quantizer = quantize(%w) {format=integer(width=8,frac=4)} : f32[2, 2]
%z = linear(%z.input_quantizer, %z.weight_quantizer) : f32[B, 2]
output z = %z
)");
}

TEST(Quantize, TakesOtherOperationsThanLinear) {
  expect_after(
      R"(%ids = input : i64[B]
%table = parameter weight trainable : f32[9, 2]
%y = embedding(%ids, %table) {padding=-1} : f32[B, 2]
output y = %y
)",
      [](Graph& graph) {
        const Format format = format_of("integer(width=4,frac=2)");
        return quantize(graph, uniform_plan(graph, LayerFormats::reads(format), "embedding"));
      },
      R"(%ids = input : i64[B]
%table = parameter weight trainable : f32[9, 2]
%table.quantizer = quantize(%table) {format=integer(width=4,frac=2)} : f32[9, 2]
%y = embedding(%ids, %table.quantizer) {padding=-1} : f32[B, 2]
output y = %y
)");
}

TEST(Quantize, TellsTheStatesOfTwoInputsApart) {
  const QuantizationPlan plan = {{"y", {.input = format_of("integer(width=8,frac=auto)")}}};
  expect_after(R"(%a = input : f32[B, 2]
%b = input : f32[2, 3]
%y = matmul(%a, %b) : f32[B, 3]
output y = %y
)",
               [&](Graph& graph) { return quantize(graph, plan) && current_plan(graph) == plan; },
               R"(%a = input : f32[B, 2]
%b = input : f32[2, 3]
%y.input_quantizer.frac = parameter format_state frozen : f32[]
%y.input_quantizer.1.frac = parameter format_state frozen : f32[]
%y.input_quantizer = quantize(%a, %y.input_quantizer.frac) {format=integer(width=8,frac=auto)} : f32[B, 2]
%y.input_quantizer.1 = quantize(%b, %y.input_quantizer.1.frac) {format=integer(width=8,frac=auto)} : f32[2, 3]
%y = matmul(%y.input_quantizer, %y.input_quantizer.1) : f32[B, 3]
output y = %y
)");
}

TEST(Quantize, RefusesPlansThatDoNotFitAndChangesNothing) {
  const Format format = format_of("integer(width=8,frac=4)");
  const auto refusal_of = [](const QuantizationPlan& plan) {
    Graph graph = parse(kTwoLayers);
    const std::string message = message_of([&] { quantize(graph, plan); });
    EXPECT_EQ(to_string(graph), kTwoLayers);
    return message;
  };
  EXPECT_EQ(refusal_of({{"y", {.input = format}}, {"yy", {.input = format}}}),
            "the graph has no operation 'yy' to quantize");
  EXPECT_EQ(refusal_of({{"y", {.input = format}}, {"z", {.bias = format}}}),
            "%z (linear) has no bias to quantize");
}

std::vector<float> flat(const Json& rows) {
  std::vector<float> values;
  for (const Json& row : rows) {
    for (const Json& value : row.is_array() ? row : Json::array({row}))
      values.push_back(value.get<float>());
  }
  return values;
}

// The published vector of a quantized linear: Q(x) Q(W)^T + Q(b), bit for bit.
TEST(Quantize, GivesTheValuesOfTheVectorForALinear) {
  const Json vectors = read_json(test_data() / "vectors" / "formats.json");
  const auto entry = std::find_if(vectors.begin(), vectors.end(), [](const Json& candidate) {
    return candidate["format"] == "linear_integer";
  });
  ASSERT_NE(entry, vectors.end());
  const Json& row = (*entry)["cases"][0];
  Graph graph = parse(R"(%x = input : f32[B, 3]
%weight = input : f32[2, 3]
%bias = input : f32[2]
%y = linear(%x, %weight, %bias) : f32[B, 2]
output y = %y
)");
  quantize_to("integer(width=8,frac=4)")(graph);
  const NamedTensors results =
      run_graph(graph, {{"x", Tensor::of<float>({2, 3}, flat(row["in"]["x"]))},
                        {"weight", Tensor::of<float>({2, 3}, flat(row["in"]["weight"]))},
                        {"bias", Tensor::of<float>({2}, flat(row["in"]["bias"]))}});
  EXPECT_EQ(elements_of(results.at("y")), flat(row["out"]));
}

TEST(Quantize, FollowsTheOrderOfTheGraphWhateverThatOfThePlan) {
  constexpr const char* kTwo = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%query = linear(%x, %w) : f32[B, 2]
%value = linear(%x, %w) : f32[B, 2]
%y = add(%query, %value) : f32[B, 2]
output y = %y
)";
  const Format format = parse_format("integer(width=8,frac=4)", references().formats);
  const LayerFormats all = {.input = format, .weight = format};
  Graph in_order = parse(kTwo), backwards = parse(kTwo);
  quantize(in_order, {{"query", all}, {"value", all}});
  quantize(backwards, {{"value", all}, {"query", all}});
  verify(backwards);
  EXPECT_EQ(to_string(backwards), to_string(in_order));
}

TEST(RemoveQuantizers, GivesBackTheGraphOfBefore) {
  constexpr const char* kPlain = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%y = linear(%x, %w) : f32[B, 3]
output y = %y
)";
  Graph graph = parse(kPlain);
  EXPECT_FALSE(remove_quantizers(graph));
  const Format format = parse_format("integer(width=8)", references().formats);
  LayerFormats all = LayerFormats::reads(format);
  all.bias = std::nullopt;
  all.output = format;
  quantize(graph, {{"y", all}});
  EXPECT_NE(to_string(graph), kPlain);
  EXPECT_TRUE(remove_quantizers(graph));
  verify(graph);
  EXPECT_EQ(to_string(graph), kPlain);
}

// Operands that an earlier plan quantized in the same format are not quantized again.
TEST(Quantize, GoesOnWhereLayersDoNotCollide) {
  Graph graph = parse(kTwoLayers);
  const Format format = format_of("integer(width=8,frac=4)");
  QuantizationPlan whole = uniform_plan(graph, LayerFormats::reads(format));
  Graph at_once = graph;
  quantize(at_once, whole);
  for (const auto& layer : whole) quantize(graph, {layer});
  EXPECT_EQ(to_string(graph), to_string(at_once));
}

TEST(Quantize, RefusesAQuantizerAsALayer) {
  Graph graph = parse(kTwoLayers);
  const QuantizationPlan plan =
      uniform_plan(graph, LayerFormats::reads(format_of("integer(width=8,frac=4)")));
  quantize(graph, plan);
  EXPECT_EQ(message_of([&] {
              quantize(graph, {{"w.quantizer", plan[0].second}});
            }),
            "%w.quantizer is a quantizer; name the layer that reads it");
}

}  // namespace
}  // namespace hone::testing
