#include "hone/train/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/ir/print.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/text_examples.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::tiny_model;
using testing::tiny_texts;

std::vector<float> logits_of(const EncodedSet& data, std::int64_t batch_size, int threads = 1) {
  const Model model = tiny_model();
  ThreadPool pool(threads);
  Predictor predictor(unquantized_graph(model), model.parameters, {builtin(), pool});
  return predictor.rows(text_examples(data), batch_size);
}

// Masked tokens add exactly zero to a softmax. So padding and other texts only change the order of sums: some ulps of
// logits of size 1 after 14 products.
TEST(Predictor, LogitsDoNotDependOnTheBatch) {
  const EncodedSet data = tiny_texts(33);
  const std::vector<float> alone = logits_of(data, 1);
  ASSERT_EQ(alone.size(), 66u);
  for (const std::int64_t batch_size : {7, 64}) {
    const std::vector<float> together = logits_of(data, batch_size);
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-5) << i;
  }
}

// Also beyond 384 tokens, where products could be split by the longest text of a batch.
TEST(Predictor, GivesALongTextTheSameBitsHoweverFarItIsPadded) {
  EncoderConfig config = testing::tiny_config();
  config.max_position_embeddings = 1000;
  const Model model = new_model(facts_of(bert(), config), builtin().ops, /*seed=*/5);
  EncodedSet together = tiny_texts(2);
  for (const std::size_t text : {std::size_t{0}, std::size_t{1}}) {
    together.ids[text].resize(text == 0 ? 500 : 900);
    for (std::size_t i = 0; i < together.ids[text].size(); ++i)
      together.ids[text][i] = 4 + static_cast<std::int32_t>((7 * i + text) % 36);
  }
  ThreadPool pool(2);
  Predictor predictor(unquantized_graph(model), model.parameters, {builtin(), pool});
  const std::vector<float> alone = predictor.rows(text_examples(together), 1);
  EXPECT_EQ(predictor.rows(text_examples(together), 2), alone);
}

TEST(Predictor, GivesTheSameBitsForAnyNumberOfThreads) {
  const EncodedSet data = tiny_texts(20);
  EXPECT_EQ(logits_of(data, 8, 1), logits_of(data, 8, 3));
}

// The last layer only computes the row of each text that is read.
TEST(Predictor, GivesTheSameBitsAsTheWholeGraph) {
  const EncodedSet data = tiny_texts(20);
  const Model model = tiny_model();
  ThreadPool pool(2);
  for (const bool quantized : {false, true}) {
    Graph graph = unquantized_graph(model);
    if (quantized) quantize(graph, testing::plan_of(graph, "mxint(bits=8)"));
    const PassWatch whole{.skipped = {"hoist_slices"}};
    Predictor by_slices(graph, model.parameters, {builtin(), pool}),
        as_it_stands(graph, model.parameters,
                     {.library = builtin(), .pool = pool, .watch = &whole});
    EXPECT_EQ(by_slices.rows(text_examples(data), 8), as_it_stands.rows(text_examples(data), 8))
        << quantized;
  }
}

// Fused attention rounds differently: some ulps of logits of size 1.
TEST(Predictor, GivesTheLogitsOfTheStepsOfAttention) {
  const EncodedSet data = tiny_texts(20);
  const Model model = tiny_model();
  ThreadPool pool(2);
  std::vector<std::string> changed;
  const PassWatch by_steps{.skipped = {"fuse_attention"}},
      fused{.skipped = {}, .on_pass = [&](const PassRun&run, const Graph&) {
              if (run.changed) changed.push_back(run.pass);
            }};
  const auto logits = [&](const PassWatch& watch) {
    Predictor predictor(unquantized_graph(model), model.parameters,
                        {.library = builtin(), .pool = pool, .watch = &watch});
    return predictor.rows(text_examples(data), 8);
  };
  const std::vector<float> expected = logits(by_steps), got = logits(fused);
  EXPECT_TRUE(std::ranges::find(changed, "fuse_attention") != changed.end());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
}

TEST(Predictor, GivesTheSameBitsAsLinearsAndWhatFollowsThem) {
  const EncodedSet data = tiny_texts(20);
  const Model model = tiny_model();
  ThreadPool pool(2);
  const PassWatch apart{.skipped = {"fuse_linear"}};
  Predictor fused(unquantized_graph(model), model.parameters, {builtin(), pool}),
      by_steps(unquantized_graph(model), model.parameters,
               {.library = builtin(), .pool = pool, .watch = &apart});
  EXPECT_NE(to_string(fused.graph()), to_string(by_steps.graph()));
  EXPECT_EQ(fused.rows(text_examples(data), 8), by_steps.rows(text_examples(data), 8));
}

TEST(Predictor, KeepsTheOrderOfTheExamples) {
  const EncodedSet data = tiny_texts(5);
  EncodedSet reversed = data;
  std::reverse(reversed.ids.begin(), reversed.ids.end());
  const std::vector<float> forth = logits_of(data, 1), back = logits_of(reversed, 1);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(forth[2 * i], back[2 * (4 - i)]);
    EXPECT_EQ(forth[2 * i + 1], back[2 * (4 - i) + 1]);
  }
}

TEST(Predictor, TellsHowFarItIs) {
  const Model model = tiny_model();
  ThreadPool pool(1);
  Predictor predictor(forward_graph(model), model.parameters, {builtin(), pool});
  EXPECT_EQ(predictor.width(), 2);
  std::vector<std::int64_t> done;
  predictor.rows(text_examples(tiny_texts(7)), 3, [&](std::int64_t now) { done.push_back(now); });
  EXPECT_EQ(done, (std::vector<std::int64_t>{3, 6, 7}));
  EXPECT_TRUE(predictor.rows({}, 3).empty());
}

// A test format that rounds nothing and counts its calls.
std::int64_t quantize_calls = 0;

FormatDef counting_format() {
  return {.name = "counting",
          .summary = "leaves every value as it is",
          .layout = [](const Format&, const Sizes&) { return CodeLayout{32}; },
          .fields = nullptr,
          .quantize_reference =
              [](const QuantizerInput& input, std::span<float> y) {
                std::copy(input.x.begin(), input.x.end(), y.begin());
              },
          .quantize =
              [](const QuantizerInput& input, ThreadPool&, std::span<float> y) {
                ++quantize_calls;
                std::copy(input.x.begin(), input.x.end(), y.begin());
              },
          .encode = nullptr,
          .decode = nullptr};
}

TEST(Predictor, QuantizesWeightsOnceAndInputsEveryTime) {
  Library library = builtin();
  library.formats.emplace("counting", counting_format());
  const Model model = tiny_model();
  Graph graph = unquantized_graph(model);
  quantize(graph,
           uniform_plan(graph, LayerFormats::reads(parse_format("counting", library.formats))));
  ThreadPool pool(1);
  quantize_calls = 0;
  Predictor predictor(std::move(graph), model.parameters, {library, pool});
  EXPECT_EQ(quantize_calls, 14 * 2);  // weights and biases
  const EncodedSet data = tiny_texts(4);
  const std::vector<float> logits = predictor.rows(text_examples(data), 2);
  EXPECT_EQ(quantize_calls, 14 * 2 + 2 * 10);  // ten different inputs in each of two batches
  EXPECT_EQ(logits, logits_of(data, 2));
}

TEST(Predictor, LeavesTheParametersItWasGivenAlone) {
  const Model model = tiny_model();
  Graph graph = unquantized_graph(model);
  quantize(graph, testing::plan_of(graph, "integer(width=4,frac=2)"));
  const std::size_t count = model.parameters.tensors().size();
  ThreadPool pool(1);
  Predictor predictor(std::move(graph), model.parameters, {builtin(), pool});
  EXPECT_EQ(model.parameters.tensors().size(), count);
  EXPECT_EQ(testing::changed_parameters(model.parameters, tiny_model().parameters),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace hone
