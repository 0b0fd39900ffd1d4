#include "hone/models/correct_biases.h"

#include <gtest/gtest.h>

#include "hone/models/transform.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/library.h"
#include "tests/support/tiny_model.h"

namespace hone::testing {
namespace {

// b += (W - Ŵ) E[x], computed by hand. With two bits per row W is -s, 0 or s.
TEST(CorrectBiases, TakesBackWhatRoundingAddsOnAverage) {
  const Library library = builtin_library();
  ThreadPool pool(1);
  const Session session{library, pool};
  Model model = tiny_model();
  const std::string layer = "bert.encoder.layer.0.output.dense";
  QuantizationPlan plan = {
      {layer, {.weight = parse_format("int(bits=4,per=row,scale=dynamic)", library.formats)}}};
  quantize_model(model, plan, session);
  const ParameterStore before = model.parameters;
  std::vector<double> mean(64);
  for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = 0.25 * static_cast<double>(k % 5);
  const auto mean_of = [&](const std::string& name) {
    return name == layer ? std::span<const double>(mean) : std::span<const double>();
  };
  EXPECT_EQ(correct_biases(model, mean_of, session), 1);
  EXPECT_EQ(changed_parameters(before, model.parameters),
            (std::vector<std::string>{layer + ".bias"}));
  const std::vector<float> w = floats_of(before.at(layer + ".weight")),
                           b = floats_of(before.at(layer + ".bias")),
                           corrected = floats_of(model.parameters.at(layer + ".bias"));
  for (std::size_t row = 0; row < b.size(); ++row) {
    double largest = 0, sum = 0;
    for (std::size_t k = 0; k < 64; ++k)
      largest = std::max(largest, std::fabs(static_cast<double>(w[row * 64 + k])));
    const double step = largest / 7;
    for (std::size_t k = 0; k < 64; ++k) {
      const double value = static_cast<double>(w[row * 64 + k]);
      sum += (value - step * std::nearbyint(value / step)) * mean[k];
    }
    EXPECT_NEAR(corrected[row], b[row] + sum, 1e-5);
    EXPECT_GT(std::fabs(sum), 1e-4);
  }
  EXPECT_EQ(model.facts.history.passes.back(), "correct_biases");
}

}  // namespace
}  // namespace hone::testing
