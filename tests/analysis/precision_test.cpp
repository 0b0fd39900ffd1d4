#include "hone/analysis/precision.h"

#include <gtest/gtest.h>

#include "hone/ir/parse.h"
#include "tests/analysis/graph_text.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const FormatTable& formats() {
  static const FormatTable table = builtin_formats();
  return table;
}

Format format_called(std::string_view text) { return parse_format(text, formats()); }

// Two linears with the same weight and separate biases, and a scale that no linear reads.
Graph shared_weight() {
  return parse_graph(R"(%x = input : f32[B, S, 4]
%w = parameter weight trainable : f32[4, 4]
%b1 = parameter weight trainable : f32[4]
%b2 = parameter weight trainable : f32[4]
%gain = parameter weight trainable : f32[3]
%first = linear(%x, %w, %b1) : f32[B, S, 4]
%second = linear(%first, %w, %b2) : f32[B, S, 4]
output y = %second)",
                     ops(), formats());
}

QuantizationPlan both(const LayerFormats& first, const LayerFormats& second) {
  return {{"first", first}, {"second", second}};
}

TEST(PlannedTensors, AreTheOperandsInTheOrderOfThePlan) {
  const Graph graph = shared_weight();
  const Format wide = format_called("integer(width=8,frac=4)");
  const Format blocks = format_called("mxint(bits=4,block=2)");
  const std::vector<PlannedTensor> tensors = planned_tensors(
      graph,
      {{"second", {.weight = blocks, .output = wide}}, {"first", {.input = wide, .bias = wide}}},
      {{'B', 2}, {'S', 5}});
  ASSERT_EQ(tensors.size(), 4u);
  const auto text = [](const PlannedTensor& t) {
    return fmt::format("{} {} {} {} {} {} {}", t.layer, t.op, to_string(t.operand), t.tensor,
                       to_string(t.sizes), to_string(t.format), t.average_bits);
  };
  // Each block of 2 shares a byte: 4 more bits per element.
  EXPECT_EQ(text(tensors[0]), fmt::format("second linear weight w [4, 4] {} 8", to_string(blocks)));
  EXPECT_EQ(text(tensors[1]), "second linear output second [2, 5, 4] integer(width=8,frac=4) 8");
  EXPECT_EQ(text(tensors[2]), "first linear input x [2, 5, 4] integer(width=8,frac=4) 8");
  EXPECT_EQ(text(tensors[3]), "first linear bias b1 [4] integer(width=8,frac=4) 8");
}

TEST(PlannedTensors, RefuseLayersThatAreNotThere) {
  const Graph graph = shared_weight();
  const Format format = format_called("bf16");
  expect_user_error("the graph has no operation 'third'", [&] {
    planned_tensors(graph, {{"third", {.weight = format}}}, {{'B', 1}, {'S', 1}});
  });
}

TEST(PlannedSize, CountsASharedParameterOnce) {
  const Format format = format_called("integer(width=8,frac=4)");
  const PlannedSize size =
      planned_size(shared_weight(), both(LayerFormats::reads(format), LayerFormats::reads(format)));
  EXPECT_EQ(size.parameters, 16 + 4 + 4 + 3);
  EXPECT_EQ(size.quantized_parameters, 16 + 4 + 4);
  EXPECT_EQ(size.quantized_bits, 8 * 24);
  EXPECT_EQ(size.bits, 8 * 24 + 32 * 3);
}

TEST(PlannedSize, TellsTheTablesOfEmbeddingsApart) {
  const Graph graph = parse_graph(R"(%ids = input : i64[B, S]
%table = parameter weight trainable : f32[10, 4]
%w = parameter weight trainable : f32[4, 4]
%x = embedding(%ids, %table) : f32[B, S, 4]
%y = linear(%x, %w) : f32[B, S, 4]
output y = %y)",
                                  ops(), formats());
  const Format format = format_called("integer(width=8,frac=4)");
  const PlannedSize linear = planned_size(graph, {{"y", {.weight = format}}});
  EXPECT_EQ(linear.embedding_bits, 32 * 40);
  EXPECT_FALSE(linear.embeddings_quantized);
  const PlannedSize all =
      planned_size(graph, {{"y", {.weight = format}}, {"x", {.weight = format}}});
  EXPECT_EQ(all.embedding_bits, 8 * 40);
  EXPECT_TRUE(all.embeddings_quantized);
}

// A slice of rows is part of an embedding table. A transposed weight counts as a whole weight.
TEST(PlannedSize, TellsAPartOfATableFromAWeightThatIsTurned) {
  const Graph graph = parse_graph(R"(%x = input : f32[B, S, 4]
%table = parameter weight trainable : f32[10, 4]
%w = parameter weight trainable : f32[4, 4]
%rows = slice(%table) {axis=0, begin=0, size=[S]} : f32[S, 4]
%turned = transpose(%w) {axes=[1, 0]} : f32[4, 4]
%h = linear(%x, %turned) : f32[B, S, 4]
%y = add(%h, %rows) : f32[B, S, 4]
output y = %y)",
                                  ops(), formats());
  EXPECT_EQ(planned_size(graph, {}).embedding_bits, 32 * 40);
}

TEST(PlannedSize, TakesTheFirstOfSeveralFormatsOfAParameter) {
  const PlannedSize size =
      planned_size(shared_weight(), both({.weight = format_called("integer(width=8,frac=4)")},
                                         {.weight = format_called("integer(width=4,frac=2)")}));
  EXPECT_EQ(size.quantized_parameters, 16);
  EXPECT_EQ(size.quantized_bits, 8 * 16);
}

TEST(PlannedSize, CountsSharedCodesAndState) {
  const auto bits_of = [](std::string_view format) {
    return planned_size(shared_weight(), both({.weight = format_called(format)}, {}))
        .quantized_bits;
  };
  EXPECT_EQ(bits_of("mxint(bits=4,block=4)"), 16 * 4 + 4 * 8);
  EXPECT_EQ(bits_of("int(bits=4,per=row,scale=static)"), 16 * 4 + 4 * 32);
  EXPECT_EQ(bits_of("int(bits=4)"), 16 * 4 + 32);
}

TEST(PlannedSize, OfInputsAndOutputsIsThatOfTheWholeModel) {
  const Format format = format_called("bf16");
  const PlannedSize size =
      planned_size(shared_weight(), both({.input = format, .output = format}, {}));
  EXPECT_EQ(size.quantized_parameters, 0);
  EXPECT_EQ(size.bits, 32 * 27);
}

// %w and the input of `second` have 8 bits; the input of `first` stays fp32.
TEST(AverageBits, AreWeighedByElements) {
  const Graph graph = shared_weight();
  const Format wide = format_called("integer(width=8,frac=4)");
  const QuantizationPlan plan = {{"second", {.input = wide, .weight = wide}}};
  const Bindings bindings = {{'B', 2}, {'S', 5}};
  const AverageBits bits = average_bits(graph, plan, bindings);
  EXPECT_EQ(bits.parameters, 27);
  EXPECT_EQ(bits.quantized_parameters, 16);
  EXPECT_EQ(bits.weights, 8);
  EXPECT_DOUBLE_EQ(bits.all_parameters, (16 * 8 + 11 * 32) / 27.0);
  EXPECT_DOUBLE_EQ(bits.data, 20);
  const AverageBits added = average_bits(graph, plan, bindings, BitCount::width_and_fraction);
  EXPECT_EQ(added.weights, 12);
  EXPECT_DOUBLE_EQ(added.data, 22);
  // For a format without a fraction, both counts are its stored bits, including those that blocks share.
  const Format blocks = format_called("mxint(bits=4,block=2)");
  for (const BitCount count : {BitCount::stored, BitCount::width_and_fraction})
    EXPECT_EQ(average_bits(graph, {{"first", {.weight = blocks}}}, bindings, count).weights, 8);
}

// Two linears of 16 and 32 weights with biases, and an embedding table.
TEST(WeightBits, CountWeightsOfLinearsAlone) {
  const Graph graph = parse_graph(R"(%ids = input : i64[B, S]
%table = parameter weight trainable : f32[10, 4]
%w = parameter weight trainable : f32[4, 4]
%b = parameter bias trainable : f32[4]
%v = parameter weight trainable : f32[8, 4]
%x = embedding(%ids, %table) : f32[B, S, 4]
%h = linear(%x, %w, %b) : f32[B, S, 4]
%y = linear(%h, %v) : f32[B, S, 8]
output y = %y)",
                                  ops(), formats());
  const Format four = format_called("mxint(bits=4,block=4)"),
               eight = format_called("integer(width=8,frac=4)");
  const QuantizationPlan plan = {{"h", {.weight = four, .bias = eight}}, {"x", {.weight = eight}}};
  const WeightBits all = weight_bits(graph, plan);
  EXPECT_EQ(all.elements, 48);
  EXPECT_EQ(all.bits, 16 * 6 + 32 * 32) << "four weights share 8 bits; the second has no format";
  EXPECT_EQ(weight_bits(graph, plan, {"h"}).average(), 6);
  EXPECT_EQ(weight_bits(graph, plan, {"h"}, {{"h", {.share = 0.5}}}).average(), 4)
      << "half, and a bit each";
  const LayerSparsity blocks{.share = 0.5, .structure = parse_structure("1x4")};
  EXPECT_EQ(weight_bits(graph, plan, {"h"}, {{"h", blocks}}).average(), 3.25)
      << "half, and a bit for each four";
  EXPECT_EQ(weight_bits(graph, {}).average(), 32);
}

TEST(AverageBits, OfAnOutputAreThoseOfWhoReadsIt) {
  const AverageBits bits = average_bits(
      shared_weight(), {{"first", {.output = format_called("bf16")}}}, {{'B', 2}, {'S', 5}});
  EXPECT_DOUBLE_EQ(bits.data, (32 + 16) / 2.0);
  EXPECT_EQ(bits.weights, 32);
}

}  // namespace
}  // namespace hone::testing
