#include "hone/train/observed_gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/message.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

std::map<std::string, Tensor> gradients_of(const EncodedSet& texts, const CalibrationRun& run,
                                           int threads = 1) {
  Model model = tiny_model();
  ThreadPool pool(threads);
  const Session session{builtin(), pool};
  return absolute_gradients(model.graph, {}, model.parameters, text_examples(texts), run, session);
}

/// Returns the mean loss of a batch without dropout, with `difference` added to an element of a weight.
double loss_of(const ExampleSource& texts, std::span<const std::int64_t> rows,
               const std::string& weight, std::size_t element, float difference) {
  const Model model = tiny_model();
  Graph graph = model.graph;
  remove_dropout(graph);
  ParameterStore parameters = model.parameters;
  std::vector<float> values = floats_of(parameters.at(weight));
  values[element] += difference;
  parameters.set(weight, Tensor::of<float>(parameters.at(weight).sizes(), values));
  ThreadPool pool(1);
  Interpreter interpreter(graph, builtin(), pool);
  return floats_of(interpreter.run(texts.batch(rows, 0), parameters).at("loss"))[0];
}

// Checks the elements with the largest gradients.
TEST(AbsoluteGradients, AreThoseOfDifferencesBatchByBatch) {
  const EncodedSet set = tiny_texts(32);
  const ExampleSource texts = text_examples(set);
  const CalibrationRun run{.batch_size = 8, .batch_count = 3};
  const std::vector<std::int64_t> sample = calibration_rows(texts.size(), run);
  for (const auto& [name, sums] : gradients_of(set, run)) {
    const std::vector<float> values = floats_of(sums);
    const auto element =
        static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    double expected = 0;
    constexpr float kStep = 0.01f;
    for (const std::span<const std::int64_t> rows : batches(sample, run.batch_size))
      expected += std::abs(loss_of(texts, rows, name, element, kStep) -
                           loss_of(texts, rows, name, element, -kStep)) /
                  (2 * static_cast<double>(kStep));
    EXPECT_GT(values[element], 0) << name;
    EXPECT_NEAR(values[element], expected, 1e-3 + 0.03 * expected) << name;
  }
}

TEST(AbsoluteGradients, HaveTheSameBitsForAnyNumberOfThreads) {
  const EncodedSet texts = tiny_texts(16);
  const auto one = gradients_of(texts, {}), three = gradients_of(texts, {}, 3);
  EXPECT_EQ(one.size(), 13);
  for (const auto& [name, sums] : one)
    EXPECT_EQ(floats_of(sums), floats_of(three.at(name))) << name;
}

TEST(AbsoluteGradients, NeedExamples) {
  EXPECT_EQ(message_of([] { gradients_of(tiny_texts(0), {}); }),
            "`method` first_order reads training examples, and the training split is empty");
}

}  // namespace
}  // namespace hone::testing
