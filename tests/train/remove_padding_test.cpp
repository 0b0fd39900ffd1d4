#include "hone/train/remove_padding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hone/autodiff/gradients.h"
#include "hone/frontends/huggingface/distilbert.h"
#include "hone/frontends/huggingface/electra.h"
#include "hone/frontends/huggingface/roberta.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/hoist_slices.h"
#include "hone/passes/lora.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"
#include "tests/support/evaluate.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;

// Prepares a graph for training, before gradients are added.
Graph prepared(Graph graph, bool hoists) {
  if (hoists) hoist_slices_before_gradients(graph);
  fuse_attention(graph);
  return graph;
}

// Returns loss, logits, and the gradients of all trainable parameters by name.
NamedTensors run_with_gradients(Graph graph, NamedTensors inputs, ParameterStore parameters) {
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), trainable);
  for (std::size_t i = 0; i < trainable.size(); ++i)
    if (gradients[i]) graph.set_output("d " + trainable[i].node->name(), gradients[i]);
  verify(graph);
  inputs["random_key"] = Tensor::scalar<std::int64_t>(77);
  ThreadPool pool(2);
  return Interpreter(graph, builtin(), pool).run(inputs, parameters);
}

// Checks texts of 3 to 22 tokens with and without padding. Outputs must be equal, and gradients the same sums. This
// also holds if the last text is followed by unused tokens.
void expect_same_without_padding(const Graph& padded, const ParameterStore& parameters,
                                 std::int64_t token_step) {
  SCOPED_TRACE(token_step);
  std::string why;
  Graph unpadded = padded;
  const std::optional<TextLayout> layout = remove_padding(unpadded, token_step, &why);
  ASSERT_TRUE(layout) << why;
  verify(unpadded);
  const EncodedSet texts = testing::tiny_texts(9);
  std::vector<std::int64_t> rows(9);
  std::iota(rows.begin(), rows.end(), 0);
  const NamedTensors batch = text_examples(texts).batch(rows, 0);
  const NamedTensors expected = run_with_gradients(padded, batch, parameters),
                     got =
                         run_with_gradients(unpadded, without_padding(batch, *layout), parameters);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const std::vector<float> a = testing::elements_of(tensor),
                             b = testing::elements_of(got.at(name));
    if (name[0] != 'd') {
      EXPECT_EQ(a, b) << name;  // bit for bit
      continue;
    }
    // Sums of up to 200 tokens in another order. Each term of the backward pass depends on some dozens of these.
    double square = 0, error = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      square += double{a[i]} * a[i];
      error += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    }
    // Key biases shift all scores of a query equally, so their gradients are zero except for rounding.
    EXPECT_LE(std::sqrt(error), 200 * 0x1p-24 * std::max(std::sqrt(square), 0.1)) << name;
  }
}

void expect_same_without_padding(const Graph& padded, const ParameterStore& parameters) {
  for (const std::int64_t token_step : {1, 64})
    expect_same_without_padding(padded, parameters, token_step);
}

EncoderConfig config_for(const Architecture& architecture) {
  EncoderConfig config = testing::tiny_config();
  config.embedding_size = 16;  // used by ELECTRA only
  if (architecture.model_type() == roberta().model_type()) config.pad_token_id = 0;
  return config;
}

TEST(RemovePadding, ChangesNoBitOfWhatIsSaidAndNoTermOfAnyGradient) {
  for (const Architecture& architecture : {bert(), roberta(), distilbert(), electra()}) {
    for (const bool hoists : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, hoists {}", architecture.model_type(), hoists));
      const Model model =
          new_model(facts_of(architecture, config_for(architecture)), builtin().ops, /*seed=*/5);
      ASSERT_FALSE(model.graph.operations("dropout").empty());
      expect_same_without_padding(prepared(model.graph, hoists), model.parameters);
    }
  }
}

TEST(RemovePadding, KeepsQuantizersOfRowsAndElements) {
  for (const char* format : {"integer(width=8,frac=4)", "mxint(bits=8)"}) {
    SCOPED_TRACE(format);
    Model model = testing::tiny_model();
    testing::put_quantizers(model, format);
    expect_same_without_padding(prepared(model.graph, true), model.parameters);
  }
}

// Adapters with dropout on their input. The operations fused for them also draw by place.
TEST(RemovePadding, TrainsAdaptersToTheSameMasks) {
  Model model = testing::tiny_model();
  insert_lora(model.graph, model.parameters, {.rank = 2, .dropout = 0.3});
  expect_same_without_padding(prepared(model.graph, true), model.parameters);
  Graph step = model.graph;
  ASSERT_TRUE(prepare_for_gradients(step));
  add_training_step(step, {});
  EXPECT_FALSE(step.operations("dropped_linear").empty());
  for (const Node* fused : step.operations("dropped_linear"))
    EXPECT_EQ(fused->inputs().size(), fused->types()[0].dim(0) == Dim(1) ? 4u : 3u);
}

std::string refusal_of(Graph graph) {
  std::string why;
  const std::string before = to_string(graph);
  EXPECT_FALSE(remove_padding(graph, 1, &why));
  EXPECT_EQ(to_string(graph), before);
  return why;
}

TEST(RemovePadding, LeavesWhatLooksAtPaddingAsItIs) {
  const Model model = testing::tiny_model();
  // Unfused attention operations read all tokens of a text.
  EXPECT_NE(refusal_of(model.graph).find("(transpose): its result is not one for each token"),
            std::string::npos)
      << refusal_of(model.graph);
  // The scale depends on the largest value of the whole tensor.
  Model quantized = testing::tiny_model();
  testing::put_quantizers(quantized, "int(bits=8,scale=dynamic)");
  EXPECT_NE(refusal_of(prepared(quantized.graph, true)).find("(quantize): it may mix tokens"),
            std::string::npos)
      << refusal_of(prepared(quantized.graph, true));
  EXPECT_EQ(refusal_of(testing::parse("%x = input : f32[B, 4]\noutput loss = %x")),
            "there is no padding");
}

// Tokens keep their ids, their positions, and their places in the padded batch.
TEST(RemovePadding, PutsTextsOneBehindTheOther) {
  const NamedTensors batch = {
      {"input_ids", Tensor::of<std::int64_t>({2, 3}, {2, 7, 3, 2, 3, 0})},
      {"attention_mask", Tensor::of<std::int64_t>({2, 3}, {1, 1, 1, 1, 1, 0})},
      {"token_type_ids", Tensor::of<std::int64_t>({2, 3}, {0, 0, 1, 0, 1, 0})},
      {"labels", Tensor::of<std::int64_t>({2}, {1, 0})}};
  const NamedTensors run = without_padding(batch, {.limit = 10});
  const auto numbers = [&](const char* name) {
    return testing::elements_of<std::int64_t>(run.at(name));
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers("input_ids"), (Numbers{2, 7, 3, 2, 3}));
  EXPECT_EQ(run.at("input_ids").sizes(), (Sizes{1, 5}));
  EXPECT_EQ(numbers("token_type_ids"), (Numbers{0, 0, 1, 0, 1}));
  EXPECT_EQ(numbers("positions"), (Numbers{0, 1, 2, 0, 1}));
  EXPECT_EQ(numbers("places"), (Numbers{0, 1, 2, 10, 11}));
  EXPECT_EQ(numbers("text_begins"), (Numbers{0, 3}));
  EXPECT_EQ(numbers("text_lengths"), (Numbers{3, 2}));
  EXPECT_EQ(numbers("labels"), (Numbers{1, 0}));
  EXPECT_FALSE(run.contains("attention_mask"));
  // With unused tokens at the end.
  const NamedTensors more = without_padding(batch, {.first_position = 0, .token_step = 4});
  EXPECT_EQ(more.at("input_ids").sizes(), (Sizes{1, 8}));
  EXPECT_EQ(testing::elements_of<std::int64_t>(more.at("input_ids")),
            (Numbers{2, 7, 3, 2, 3, 0, 0, 0}));
  EXPECT_EQ(testing::elements_of<std::int64_t>(more.at("text_lengths")), (Numbers{3, 2}));
  // RoBERTa's positions start after padding.
  const NamedTensors roberta = without_padding(batch, {.position_padding = 1});
  EXPECT_EQ(testing::elements_of<std::int64_t>(roberta.at("positions")), (Numbers{2, 3, 4, 2, 3}));
}

}  // namespace
}  // namespace hone
