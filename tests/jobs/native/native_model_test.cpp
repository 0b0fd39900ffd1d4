#include "hone/jobs/native/native_model.h"

#include <gtest/gtest.h>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/ir/print.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/models/transform.h"
#include "hone/study/measure.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

constexpr const char* kValue = "bert.encoder.layer.0.output.LayerNorm";

// Returns a model in which one output channel of a normalization, which the residual connection also reads, is far
// larger than the others.
Model with_loud_channel() {
  Model model = tiny_model();
  model.parameters.writable(std::string(kValue) + ".weight").values<float>()[3] *= 100;
  return model;
}

double snr_db(const Model& model, const Model& native) {
  const EncodedSet& texts = tiny_splits().test;
  const Measurement before = measure(model, texts, 8, quiet_context(), "fp32"),
                    after = measure(native, texts, 8, quiet_context(), "native");
  return compare(before.view(), after.view(), truth_of(texts)).snr_db;
}

TEST(NativeCopies, PayAProductForWhatANormalizationMakesLoud) {
  const Model model = with_loud_channel();
  const QuantizationPlan plan = native_plan(
      unquantized_graph(model), format_called("int(bits=8,per=row)"), format_called("int(bits=8)"));
  const NativeCopies plain(model, plan, tiny_splits().train, {},
                           {.smooth_scales = false, .bias_correction = false}, quiet_context()),
      smooth(model, plan, tiny_splits().train, {},
             {.smooth_scales = true, .bias_correction = false}, quiet_context());
  const Model rounded = plain.make(plan), smoothed = smooth.make(plan);
  EXPECT_GT(snr_db(model, smoothed), snr_db(model, rounded) + 3);
  const std::string name = std::string(kValue) + ".smoothed";
  EXPECT_EQ(rounded.graph.find(name), nullptr);
  ASSERT_NE(smoothed.graph.find(name), nullptr);
  EXPECT_TRUE(smoothed.graph.find(name)->is("mul"));
  const std::string told = fmt::format("smooth(value={}, alpha=", kValue);
  EXPECT_TRUE(std::ranges::any_of(smoothed.facts.history.passes,
                                  [&](const std::string& pass) { return pass.starts_with(told); }));
  // A copy of other layers contains no smoothing.
  const Model other = smooth.make({plan.back()});
  EXPECT_EQ(other.graph.find(name), nullptr);
}

// Calibrated ranges belong to values, so a copy of some layers uses the ranges found for all layers.
TEST(NativeCopies, CalibrateOnceForEveryPlan) {
  const Model model = tiny_model();
  const QuantizationPlan plan = native_plan(
      unquantized_graph(model), format_called("int(bits=8,per=row)"), format_called("int(bits=8)"));
  const NativeCopies copies(model, plan, tiny_splits().train, {}, {}, quiet_context());
  const std::string key = "bert.encoder.layer.1.attention.self.key";
  const Model all = copies.make(plan);
  for (const auto& [name, formats] : plan) {
    if (name != key) continue;
    const Model one = copies.make({{name, formats}});
    // The single layer has its own quantizer. In the full copy query, key and value share the quantizer of query.
    EXPECT_EQ(floats_of(one.parameters.at(key + ".input_quantizer.scale")),
              floats_of(all.parameters.at(
                  "bert.encoder.layer.1.attention.self.query.input_quantizer.scale")));
  }
}

// Smooth scales are folded into the weights again, whatever operations follow the normalization.
TEST(NativeCopies, AreComputedByOtherProgramsWithoutQuantizersAndSmoothScales) {
  const Model model = with_loud_channel();
  const QuantizationPlan plan = native_plan(
      unquantized_graph(model), format_called("int(bits=8,per=row)"), format_called("int(bits=8)"));
  const NativeCopies copies(model, plan, tiny_splits().train, {},
                            {.smooth_scales = true, .bias_correction = false}, quiet_context());
  const Model native = copies.make(plan);
  const Session session = quiet_context().session();
  Model unpacked = native;
  transform(unpacked, "unpack", session);
  const TransformersLoading loading = transformers_loading(unpacked);
  EXPECT_NE(loading.reason.find("are multiplied by smooth scales"), std::string::npos)
      << loading.reason;
  EXPECT_TRUE(loading.unpacks);
  const Model plain = for_other_programs(native, session);
  EXPECT_TRUE(transformers_loading(plain).loads());
  EXPECT_EQ(to_string(plain.graph), to_string(model.graph));
  EXPECT_GT(snr_db(model, plain), 10);
  const std::string key = "bert.encoder.layer.1.attention.self.key.weight";
  const std::vector<float> factors = floats_of(
                               unpacked.parameters.at(std::string(kValue) + ".smoothing")),
                           scaled = floats_of(unpacked.parameters.at(key)),
                           weights = floats_of(plain.parameters.at(key));
  EXPECT_LT(*std::ranges::min_element(factors), 1);
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_EQ(weights[i], scaled[i] * factors[i % factors.size()]);
}

}  // namespace
}  // namespace hone::testing
