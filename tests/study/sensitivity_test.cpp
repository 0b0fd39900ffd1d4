#include "hone/study/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/jobs/compress.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::biased_tiny_model;
using testing::energy;
using testing::floats_of;
using testing::format_called;
using testing::in_fixed_point;
using testing::LayerRun;
using testing::plain_run;
using testing::quiet_context;
using testing::squared_error;
using testing::tiny_model;
using testing::tiny_splits;

constexpr std::int64_t kBatchSize = 4, kBatchCount = 2;
const CalibrationRun kRun = {.batch_size = kBatchSize, .batch_count = kBatchCount};

std::vector<OperandNoise> noise_of(const Model& model, const QuantizationPlan& plan,
                                   const CalibrationRun& run = kRun) {
  return measure_noise(model, plan, tiny_splits().train, run, quiet_context());
}

std::vector<OperandSample> samples_of(const Model& model, const QuantizationPlan& plan,
                                      std::int64_t most_values) {
  return sample_operands(model, plan, tiny_splits().train, kRun, most_values, quiet_context());
}

LayerRun run_of(const Model& model, const std::string& layer) {
  return plain_run(model, layer, tiny_splits().train, kBatchSize, kBatchCount);
}

QuantizationPlan all_in(std::string_view format) {
  return plan_with_format(tiny_model(), format_called(format));
}

QuantizationPlan classifier_in(std::string_view format) {
  return {{"classifier", LayerFormats::reads(format_called(format))}};
}

double sum(const std::vector<std::vector<float>>& pieces, double (*of)(const std::vector<float>&)) {
  double total = 0;
  for (const std::vector<float>& piece : pieces) total += of(piece);
  return total;
}

// The sums are in double over thousands of positive terms, in two orders.
void expect_same_sum(double a, double b) { EXPECT_NEAR(a, b, 1e-12 * b); }

TEST(MeasureNoise, OfAWeightIsThatOfQuantizingIt) {
  const Model model = tiny_model();
  const std::vector<OperandNoise> noise = noise_of(model, all_in("integer(width=6,frac=3)"));
  int weights = 0;
  for (const OperandNoise& one : noise) {
    if (one.operand != Operand::weight) continue;
    ++weights;
    const std::vector<float> weight = floats_of(model.parameters.at(one.layer + ".weight"));
    const std::vector<float> rounded = in_fixed_point(weight, 6, 3);
    EXPECT_DOUBLE_EQ(one.noise.signal, energy(weight)) << one.layer;
    EXPECT_DOUBLE_EQ(one.noise.noise, squared_error(weight, rounded)) << one.layer;
    EXPECT_EQ(one.noise.count, static_cast<std::int64_t>(weight.size())) << one.layer;
  }
  EXPECT_EQ(weights, 14);
}

TEST(MeasureNoise, FollowsThePlanAndEndsEveryLayerWithItsOutput) {
  const std::vector<OperandNoise> noise = noise_of(tiny_model(), all_in("integer(width=8,frac=4)"));
  const QuantizationPlan plan = all_in("integer(width=8,frac=4)");
  ASSERT_EQ(noise.size(), plan.size() * 4);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    EXPECT_EQ(noise[i].layer, plan[i / 4].first);
    EXPECT_EQ(noise[i].operand, kOperands[i % 4]);
    EXPECT_EQ(noise[i].format.def != nullptr, noise[i].operand != Operand::output);
  }
}

TEST(MeasureNoise, OfAnInputIsOverAllBatches) {
  const Model model = tiny_model();
  const std::string layer = "bert.encoder.layer.1.intermediate.dense";
  const LayerRun run = run_of(model, layer);
  const std::vector<OperandNoise> noise =
      noise_of(model, {{layer, {.input = format_called("integer(width=6,frac=3)")}}});
  ASSERT_EQ(noise.size(), 2u);
  expect_same_sum(noise[0].noise.signal, sum(run.inputs, energy));
  expect_same_sum(noise[0].noise.noise, sum(run.inputs, [](const std::vector<float>& x) {
                    return squared_error(x, in_fixed_point(x, 6, 3));
                  }));
}

// Computes the classifier y = x Wᵀ + b, (texts, 32) to (texts, 2), in double. The program adds 32 products below 1 in
// fp32, so its results differ by at most 1e-6, and the noise, with steps of 1/8, by at most 1e-4 of its value.
std::vector<float> classify(const std::vector<float>& x, const std::vector<float>& weight,
                            const std::vector<float>& bias) {
  std::vector<float> y;
  for (std::size_t text = 0; text < x.size() / 32; ++text) {
    for (std::size_t c = 0; c < 2; ++c) {
      double total = bias[c];
      for (std::size_t i = 0; i < 32; ++i)
        total += static_cast<double>(x[text * 32 + i]) * weight[c * 32 + i];
      y.push_back(static_cast<float>(total));
    }
  }
  return y;
}

TEST(MeasureNoise, OfAnOutputIsWhatTheQuantizedOperandsDoToIt) {
  const Model model = biased_tiny_model(0.3f);
  const LayerRun run = run_of(model, "classifier");
  const std::vector<float> weight =
      in_fixed_point(floats_of(model.parameters.at("classifier.weight")), 6, 3);
  const std::vector<float> bias =
      in_fixed_point(floats_of(model.parameters.at("classifier.bias")), 6, 3);
  double expected = 0;
  for (std::size_t i = 0; i < run.inputs.size(); ++i)
    expected +=
        squared_error(run.outputs[i], classify(in_fixed_point(run.inputs[i], 6, 3), weight, bias));
  const OperandNoise output = noise_of(model, classifier_in("integer(width=6,frac=3)")).back();
  EXPECT_EQ(output.operand, Operand::output);
  EXPECT_EQ(output.noise.count, kBatchSize * kBatchCount * 2);
  expect_same_sum(output.noise.signal, sum(run.outputs, energy));
  EXPECT_NEAR(output.noise.noise, expected, 1e-4 * expected);
}

TEST(MeasureNoise, OfAnOutputWithAFormatHasThatInIt) {
  const Model model = tiny_model();
  const LayerRun run = run_of(model, "classifier");
  const Format format = format_called("integer(width=8,frac=1)");
  const std::vector<OperandNoise> noise = noise_of(model, {{"classifier", {.output = format}}});
  ASSERT_EQ(noise.size(), 1u);
  EXPECT_EQ(noise[0].format, format);
  expect_same_sum(noise[0].noise.noise, sum(run.outputs, [](const std::vector<float>& y) {
                    return squared_error(y, in_fixed_point(y, 8, 1));
                  }));
}

TEST(MeasureNoise, OfALayerDoesNotDependOnOtherLayers) {
  const std::vector<OperandNoise> alone =
      noise_of(tiny_model(), classifier_in("integer(width=6,frac=3)"));
  QuantizationPlan plan = all_in("integer(width=3,frac=1)");
  plan.back() = classifier_in("integer(width=6,frac=3)")[0];
  const std::vector<OperandNoise> among = noise_of(tiny_model(), plan);
  ASSERT_EQ(alone.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const OperandNoise& one = among[among.size() - 4 + i];
    EXPECT_EQ(one.layer, "classifier");
    EXPECT_EQ(one.noise.noise, alone[i].noise.noise);
    EXPECT_EQ(one.noise.signal, alone[i].noise.signal);
  }
  EXPECT_GT(alone[0].noise.noise, 0);
}

TEST(MeasureNoise, CalibratesFormatsWithState) {
  const Model model = tiny_model();
  const OperandNoise weight = noise_of(model, classifier_in("integer(width=6)"))[1];
  const std::vector<float> values = floats_of(model.parameters.at("classifier.weight"));
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const int frac = static_cast<int>(std::floor(std::log2(31 / largest)));
  EXPECT_DOUBLE_EQ(weight.noise.noise, squared_error(values, in_fixed_point(values, 6, frac)));
}

// The largest value is 1.875 · 2^-12, so nearly all of the weights are lost.
TEST(MeasureNoise, MeasuresWhatAFormatObjectsTo) {
  const std::string hopeless = "minifloat_ieee(width=8,exponent_width=4,exponent_bias=27)";
  const OperandNoise weight = noise_of(tiny_model(), classifier_in(hopeless))[1];
  EXPECT_LT(weight.noise.snr_db(), 0.1);
  EXPECT_GT(weight.noise.snr_db(), 0);
}

TEST(MeasureNoise, RefusesLayersAndDataThatAreNotThere) {
  expect_user_error("the graph has no operation 'clasifier'", [] {
    noise_of(tiny_model(), {{"clasifier", {.input = format_called("bf16")}}});
  });
  expect_user_error("nothing to measure: the training split is empty", [] {
    measure_noise(tiny_model(), classifier_in("bf16"), {}, kRun, quiet_context());
  });
}

std::vector<float> joined(const std::vector<std::vector<float>>& pieces) {
  std::vector<float> all;
  for (const std::vector<float>& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

TEST(SampleOperands, GiveTheFirstRowsThatALayerReads) {
  const Model model = tiny_model();
  const std::vector<float> rows = joined(run_of(model, "classifier").inputs);
  // 6 of the 8 texts: the whole first batch and half of the second
  const std::vector<OperandSample> some =
      samples_of(model, classifier_in("integer(width=8,frac=4)"), 6 * 32 + 31);
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[0].operand, Operand::input);
  EXPECT_EQ(some[0].values.sizes(), (Sizes{6, 32}));
  EXPECT_EQ(floats_of(some[0].values), std::vector<float>(rows.begin(), rows.begin() + 6 * 32));
  const std::vector<OperandSample> all =
      samples_of(model, classifier_in("integer(width=8,frac=4)"), 1 << 20);
  EXPECT_EQ(floats_of(all[0].values), rows);
}

TEST(SampleOperands, AreAtMostAsManyAsAskedForAndParametersWhole) {
  const Model model = tiny_model();
  for (const std::int64_t most : {100, 1000}) {
    for (const OperandSample& sample : samples_of(model, all_in("integer(width=8)"), most)) {
      SCOPED_TRACE(fmt::format("{} {}", sample.layer, to_string(sample.operand)));
      if (sample.operand == Operand::input) {
        EXPECT_LE(sample.values.count(), most);
        EXPECT_GT(sample.values.count(), 0);
        continue;
      }
      const std::string name =
          sample.layer + (sample.operand == Operand::weight ? ".weight" : ".bias");
      EXPECT_EQ(floats_of(sample.values), floats_of(model.parameters.at(name)));
      EXPECT_EQ(sample.values.sizes(), model.parameters.at(name).sizes());
    }
  }
}

TEST(SampleOperands, NeedNoDataForParameters) {
  QuantizationPlan plan = {{"classifier", {.weight = format_called("bf16")}}};
  const std::vector<OperandSample> samples =
      sample_operands(tiny_model(), plan, {}, kRun, 100, quiet_context());
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].values.sizes(), (Sizes{2, 32}));
}

}  // namespace
}  // namespace hone
