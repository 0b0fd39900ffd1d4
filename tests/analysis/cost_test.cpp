#include "hone/analysis/cost.h"

#include <gtest/gtest.h>

#include "hone/formats/format.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/passes/remove_dropout.h"
#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

TEST(Cost, OfALinearIsTwoPerProduct) {
  const Graph graph = parse(
      "%x = input : f32[B, S, 3]\n"
      "%w = parameter weight trainable : f32[5, 3]\n"
      "%b = parameter weight trainable : f32[5]\n"
      "%y = linear(%x, %w, %b) : f32[B, S, 5]\n"
      "output y = %y\n");
  const Cost total = cost(graph, {{'B', 2}, {'S', 7}});
  EXPECT_EQ(total.flops, 2.0 * 2 * 7 * 3 * 5);
  EXPECT_EQ(total.flops_by_op.at("linear"), total.flops);
  EXPECT_EQ(total.parameter_bytes, (5 * 3 + 5) * 4);
  EXPECT_EQ(total.peak_value_bytes, 2 * 7 * 5 * 4);
}

// Matrix products of a BERT, in multiply-adds (2 FLOPs each): per token and layer 4 H^2 for query, key, value and
// output and 2 H F for the feed-forward; per pair of tokens 2 H for scores and mixing.
TEST(Cost, OfABertIsThatOfItsProductsAndLittleMore) {
  EncoderConfig config;
  config.hidden_size = 128;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.intermediate_size = 512;
  Graph graph = build_graph(ops(), bert(), config, {});
  remove_dropout(graph);
  const double B = 3, S = 40, H = 128, F = 512, L = 2, N = 2;
  const Cost total = cost(graph, {{'B', 3}, {'S', 40}});
  EXPECT_EQ(total.flops_by_op.at("linear"),
            2 * B * (S * L * (4 * H * H + 2 * H * F) + H * H + 2 * H));
  EXPECT_EQ(total.flops_by_op.at("matmul"), 2 * B * L * S * S * 2 * H);
  EXPECT_EQ(total.flops_by_op.at("softmax"), 4 * B * L * N * S * S);
  EXPECT_EQ(total.flops_by_op.at("layer_norm"), 8 * B * S * H * (1 + 2 * L));
  EXPECT_EQ(total.flops_by_op.at("gelu"), B * S * L * F);
  double sum = 0;
  for (const auto& [op, flops] : total.flops_by_op) sum += flops;
  EXPECT_EQ(total.flops, sum);
  const double products = total.flops_by_op.at("linear") + total.flops_by_op.at("matmul");
  EXPECT_LT(total.flops, 1.05 * products);
  EXPECT_EQ(total.parameter_bytes, 4'386'178 * 4);
}

// PyTorch's FlopCounterMode counts the same for this model in transformers.
TEST(Cost, ProductFlopsAreThoseThatPyTorchCounts) {
  EncoderConfig config;
  config.hidden_size = 128;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.intermediate_size = 512;
  const Graph graph = build_graph(ops(), bert(), config, {});
  EXPECT_EQ(product_flops(graph, {{'B', 1}, {'S', 128}}), 117'473'792);
}

// Bytes of values during each operation for B = 4 rows of 2 floats, 32 bytes each:
//   a 32 | a b 64 | a b c 96, b read twice | a y 64, y reuses c | z 32, z reuses y
TEST(Cost, PeakIsWhatLivesAtTheWorstMoment) {
  const Graph graph = parse(
      "%x = input : f32[B, 2]\n"
      "%a = relu(%x) : f32[B, 2]\n"
      "%b = tanh(%a) : f32[B, 2]\n"
      "%c = add(%b, %b) : f32[B, 2]\n"
      "%y = add(%c, %a) : f32[B, 2]\n"
      "%z = relu(%y) : f32[B, 2]\n"
      "output z = %z\n");
  EXPECT_EQ(cost(graph, {{'B', 4}}).peak_value_bytes, 96);
}

TEST(Cost, PeakFollowsViewsToTheMemoryTheyLookAt) {
  // %a must live until %y reads it through its views. The views themselves take no memory.
  const Graph graph = parse(
      "%x = input : f32[B, 2]\n"
      "%a = relu(%x) : f32[B, 2]\n"
      "%t = transpose(%a) {axes=[1, 0]} : f32[2, B]\n"
      "%s = slice(%t) {axis=0, begin=0, size=[1]} : f32[1, B]\n"
      "%b = relu(%x) : f32[B, 2]\n"
      "%y = relu(%s) : f32[1, B]\n"
      "output y = %y\n"
      "output b = %b\n");
  // a 32, b 32, y 16
  EXPECT_EQ(cost(graph, {{'B', 4}}).peak_value_bytes, 80);
}

// Reshaping a transposed view copies it, because its rows are not contiguous. Merging attention heads does this.
TEST(Cost, PeakCountsTheCopiesThatReshapesMake) {
  const char* transposed =
      "%x = input : f32[B, 2, 3]\n"
      "%a = relu(%x) : f32[B, 2, 3]\n"
      "%t = transpose(%a) {axes=[0, 2, 1]} : f32[B, 3, 2]\n"
      "%r = reshape(%t) {shape=[B, 6]} : f32[B, 6]\n"
      "%s = sum_to(%r) {shape=[]} : f32[]\n"
      "output s = %s\n";
  EXPECT_EQ(cost(parse(transposed), {{'B', 4}}).peak_value_bytes, 96 + 96);
  const char* dense =
      "%x = input : f32[B, 2, 3]\n"
      "%a = relu(%x) : f32[B, 2, 3]\n"
      "%r = reshape(%a) {shape=[B, 6]} : f32[B, 6]\n"
      "%s = sum_to(%r) {shape=[]} : f32[]\n"
      "output s = %s\n";
  EXPECT_EQ(cost(parse(dense), {{'B', 4}}).peak_value_bytes, 96 + 4);
}

TEST(Cost, PeakKeepsOutputsToTheEnd) {
  const char* text =
      "%x = input : f32[B, 2]\n"
      "%a = relu(%x) : f32[B, 2]\n"
      "%b = relu(%a) : f32[B, 2]\n"
      "%c = relu(%b) : f32[B, 2]\n"
      "output c = %c\n";
  EXPECT_EQ(cost(parse(text), {{'B', 4}}).peak_value_bytes, 32);
  EXPECT_EQ(cost(parse(std::string(text) + "output a = %a\n"), {{'B', 4}}).peak_value_bytes, 64);
}

// The peak is when both gradients (24 bytes each) and their norm are live.
TEST(Cost, TellsGradientsAndMomentsApart) {
  const Graph graph = parse(
      "%a = parameter weight trainable : f32[2, 3]\n"
      "%b = parameter weight trainable : f32[2, 3]\n"
      "%m = parameter moment frozen : f32[2, 3]\n"
      "%v = parameter moment frozen : f32[2, 3]\n"
      "%rate = input : f32[]\n"
      "%step = input : i64[]\n"
      "%ga = tanh(%a) : f32[2, 3]\n"
      "%gb = tanh(%b) : f32[2, 3]\n"
      "%norm = global_norm(%ga, %gb) : f32[]\n"
      "%new = adamw(%a, %ga, %m, %v, %norm, %rate, %step) : f32[2, 3], f32[2, 3], "
      "f32[2, 3]\n"
      "output norm = %norm\n"
      "output gb = %gb\n");
  const Cost total = cost(graph, {});
  EXPECT_EQ(total.parameter_bytes, 4 * 24);
  EXPECT_EQ(total.moment_bytes, 2 * 24);
  EXPECT_EQ(total.peak_value_bytes, 2 * 24 + 4);
  EXPECT_EQ(total.peak_gradient_bytes, 24) << "the other one only leaves the graph";
}

}  // namespace
}  // namespace hone::testing
