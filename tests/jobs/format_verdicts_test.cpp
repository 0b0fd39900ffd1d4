#include "hone/jobs/format_verdicts.h"

#include <gtest/gtest.h>

#include "hone/jobs/compress.h"
#include "hone/runtime/library.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

// Returns the noise of 1,000 values with a signal of 1,000.
Noise noise_of(double noise, std::int64_t clipped = 0, std::int64_t flushed = 0) {
  return {.count = 1000, .signal = 1000, .noise = noise, .flushed = flushed, .clipped = clipped};
}

TEST(FormatVerdicts, SayWhatBecameOfAnOperand) {
  EXPECT_EQ(verdict_of({}), NoiseVerdict::exact);  // there was nothing to round
  EXPECT_EQ(verdict_of(noise_of(0)), NoiseVerdict::exact);
  EXPECT_EQ(verdict_of(noise_of(10, 500)), NoiseVerdict::accurate);
  EXPECT_EQ(verdict_of(noise_of(11, 1)), NoiseVerdict::clipped);
  EXPECT_EQ(verdict_of(noise_of(11, 20, 30)), NoiseVerdict::flushed);
  EXPECT_EQ(verdict_of(noise_of(11, 0, 9)), NoiseVerdict::coarse);
}

TEST(FormatVerdicts, OfferOnlyParametersThatGain) {
  const Model& model = testing::tiny_model();
  for (const auto& [name, gains] :
       {std::pair{"integer(width=8,frac=2)", true}, {"block_fp(width=4)", false}}) {
    SCOPED_TRACE(name);
    const QuantizationPlan plan = plan_with_format(model, testing::format_called(name));
    std::vector<std::string> layers;
    for (const auto& [layer, formats] : plan) layers.push_back(layer);
    const FormatVerdicts verdicts =
        judge_formats(model, layers, plan, testing::tiny_splits().train,
                      {.batch_size = 4, .batch_count = 1}, testing::quiet_context());
    std::size_t offered = 0;
    for (const OperandVerdict& one : verdicts.operands) {
      if (!one.better) continue;
      ++offered;
      EXPECT_NE(*one.better, one.noise.format);
      EXPECT_EQ(one.noise_with_better.count, one.noise.noise.count) << "of the same values";
      EXPECT_LT(one.noise_with_better.noise, one.noise.noise.noise);
    }
    EXPECT_TRUE(!gains || offered > 0);
  }
}

TEST(FormatVerdicts, CountTheLayersOfEachFormat) {
  static const Library library = builtin_library();
  const Format format = parse_format("int(bits=4)", library.formats);
  const LayerFormats weights{.weight = format};
  FormatVerdicts verdicts{.layers = {"a", "b", "c", "d"},
                          .plan = {{"a", weights}, {"b", weights}, {"c", weights}}};
  for (const auto& [layer, noise] : {std::pair{"b", 100.0}, {"a", 10.0}, {"c", 10.0}})
    verdicts.operands.push_back({.noise = {layer, Operand::weight, format, noise_of(noise, 1)}});
  const Table taken = formats_table(verdicts);
  ASSERT_EQ(taken.rows().size(), 2u);
  const std::string name = to_string(format);
  EXPECT_EQ(display_text(taken.rows()[0][0]), name + ", inputs full precision");
  EXPECT_EQ(display_text(taken.rows()[0][1]), "3");
  EXPECT_EQ(display_text(taken.rows()[0][4]), "0.1%");
  EXPECT_EQ(display_text(taken.rows()[0][6]), "2 accurate, 1 clipped");
  EXPECT_EQ(display_text(taken.rows()[1][0]), "full precision");
  EXPECT_EQ(display_text(taken.rows()[1][6]), "not rounded");
  EXPECT_EQ(display_text(operand_verdict_table(verdicts, 1).rows()[0][0]), "b");
  EXPECT_EQ(operand_verdict_table(verdicts, 0).rows().size(), 3u);
}

}  // namespace
}  // namespace hone
