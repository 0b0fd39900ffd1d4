#include "hone/study/layer_inputs.h"

#include <gtest/gtest.h>

#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

// The texts have different lengths, so batches contain padding. A single text does not.
TEST(LayerInputs, AreThoseOfTheTextsWithoutPadding) {
  const Model model = tiny_model();
  const EncodedSet texts = tiny_texts(5);
  const std::string layer = "bert.encoder.layer.1.intermediate.dense";
  const CalibrationRun run{.batch_size = 2, .batch_count = 3};
  const std::map<std::string, LayerInput> inputs =
      observe_inputs(model, {layer}, texts, run, quiet_context());
  const std::string name = input_name(model.graph, layer);
  EXPECT_EQ(name, "bert.encoder.layer.1.attention.output.LayerNorm");
  const LayerInput& seen = inputs.at(name);
  std::int64_t tokens = 0;
  for (const std::int64_t length : lengths_of(texts)) tokens += length;
  EXPECT_EQ(seen.rows, tokens);
  std::vector<double> mean(32);
  std::vector<float> magnitude(32);
  for (const std::vector<float>& values : plain_run(model, layer, texts, 1, 5).inputs)
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean[i % 32] += static_cast<double>(values[i]) / static_cast<double>(tokens);
      magnitude[i % 32] = std::max(magnitude[i % 32], std::fabs(values[i]));
    }
  for (std::size_t k = 0; k < 32; ++k) EXPECT_NEAR(seen.mean[k], mean[k], 1e-5);
  EXPECT_EQ(seen.magnitude, magnitude);
  EXPECT_EQ(seen.sample.size(1), 32);
  EXPECT_GT(seen.sample.size(0), 5);
}

}  // namespace
}  // namespace hone::testing
