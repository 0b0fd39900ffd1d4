#include "hone/study/tensor_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/random.h"
#include "hone/jobs/compress.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/prune.h"
#include "hone/passes/remove_dropout.h"
#include "hone/tensor/dense.h"
#include "hone/train/text_examples.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::format_called;
using testing::quiet_context;
using testing::tiny_model;
using testing::tiny_splits;
using testing::tiny_texts;

TEST(ValueStatistics, AreThoseOfAllPiecesTogether) {
  RandomSequence random(7, 1);
  std::vector<float> values(10'000);
  for (float& value : values) value = static_cast<float>(3 + random.uniform());
  ValueStatistics whole, pieces;
  whole.include(values);
  for (std::size_t begin = 0, size = 1; begin < values.size(); begin += size, size *= 3)
    pieces.include(std::span(values).subspan(begin, std::min(size, values.size() - begin)));
  const double sum = std::accumulate(values.begin(), values.end(), 0.0), n = 10'000;
  double squares = 0;
  for (const float value : values) squares += std::pow(static_cast<double>(value) - sum / n, 2);
  for (const ValueStatistics& one : {whole, pieces}) {
    EXPECT_EQ(one.count(), 10'000);
    // Sums in double of n terms of one sign differ by at most n ulp.
    EXPECT_NEAR(one.mean(), sum / n, 4 * n * std::numeric_limits<double>::epsilon());
    EXPECT_NEAR(one.standard_deviation(), std::sqrt(squares / n),
                n * std::numeric_limits<double>::epsilon());
  }
}

TEST(ValueStatistics, CountZerosAndWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  ValueStatistics values;
  values.include(std::vector<float>{0.0f, -0.0f, 1.5f, -2.0f, infinity, -infinity, std::nanf("")});
  EXPECT_EQ(values.count(), 4);
  EXPECT_EQ(values.seen().not_finite(), 3);
  EXPECT_EQ(values.zeros(), 2);
  EXPECT_EQ(values.zero_share(), 0.5);
  EXPECT_EQ(values.mean(), -0.125);
  const ValueStatistics none;
  EXPECT_EQ(none.standard_deviation(), 0);
  EXPECT_EQ(none.zero_share(), 0);
  EXPECT_TRUE(none.histogram().empty());
}

TEST(ValueStatistics, HaveABinForEveryPowerOfTwoOfASign) {
  ValueStatistics values;
  values.include(std::vector<float>{-2.0f, -3.9f, -1.0f, 0.0f, 1e-40f, 1.0f, 1.9f, 2.0f, 3e38f,
                                    std::numeric_limits<float>::infinity()});
  const std::vector<ValueStatistics::Bin> bins = values.histogram();
  std::int64_t all = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    all += bins[i].count;
    EXPECT_TRUE(i == 0 || bins[i - 1].low <= bins[i].low) << i;
  }
  EXPECT_EQ(all, values.count());
  ASSERT_EQ(bins.size(), 7u);
  EXPECT_EQ(bins[0].low, -4);
  EXPECT_EQ(bins[0].high, -2);
  EXPECT_EQ(bins[0].count, 2);
  EXPECT_EQ(bins[1].count, 1);                     // -1
  EXPECT_EQ(bins[2].high, std::ldexp(1.0, -126));  // subnormals
  EXPECT_EQ(bins[3].low, 0);                       // zero
  EXPECT_EQ(bins[3].high, 0);
  EXPECT_EQ(bins[4].low, 1);
  EXPECT_EQ(bins[4].count, 2);
  EXPECT_EQ(bins[6].high, std::ldexp(1.0, 128));
}

const TensorStatistics& of(const std::vector<TensorStatistics>& all, const std::string& layer,
                           Operand operand) {
  for (const TensorStatistics& one : all)
    if (one.layer == layer && one.operand == operand) return one;
  ADD_FAILURE() << layer;
  return all.at(0);
}

constexpr const char* kQuery = "bert.encoder.layer.0.attention.self.query";

TEST(MeasureStatistics, SeesWhatLayersReadAndGive) {
  const EncodedSet texts = tiny_texts(12);
  const Model model = tiny_model();
  const std::vector<TensorStatistics> all = measure_statistics(model, {}, texts, quiet_context());
  EXPECT_EQ(all.size() % 4, 0u) << "input, weight, bias and output of each linear";
  const TensorStatistics& weight = of(all, kQuery, Operand::weight);
  EXPECT_EQ(weight.tensor, std::string(kQuery) + ".weight");
  EXPECT_EQ(weight.values.count(), model.parameters.at(weight.tensor).count());
  std::int64_t tokens = 0;
  for (std::int64_t text = 0; text < texts.size(); ++text)
    tokens += text_examples(texts).batch(std::span(&text, 1), 0).at("input_ids").count();
  const Tensor& parameter = model.parameters.at(weight.tensor);
  const TensorStatistics& output = of(all, kQuery, Operand::output);
  EXPECT_EQ(output.values.count(), tokens * parameter.sizes()[0]) << "no padding";
  // The result of a separate run.
  Graph graph = forward_graph(model);
  graph.clear_outputs();
  graph.set_output("y", {graph.find(kQuery), 0});
  remove_dropout(graph);
  remove_dead_code(graph);
  ParameterStore parameters = model.parameters;
  const auto executable = quiet_context().session().executable(graph);
  float most = -std::numeric_limits<float>::infinity();
  for (std::int64_t text = 0; text < texts.size(); ++text) {
    const NamedTensors values =
        executable->run(text_examples(texts).batch(std::span(&text, 1), 0), parameters);
    const Tensor y = dense_on(values.at("y"), cpu());
    for (const float value : y.values<float>()) most = std::max(most, value);
  }
  EXPECT_EQ(output.values.seen().maximum(), most);
}

TEST(MeasureStatistics, SeesMasksAndFormats) {
  Model model = tiny_model();
  prune(model.graph, model.parameters, {.target = {kQuery}, .rule = {.sparsity = 0.5}});
  model = compress(model, tiny_splits(),
                   {.plan = {{kQuery, {.weight = format_called("int(bits=8,per=row)")}}}},
                   quiet_context());
  const TensorStatistics weight = of(
      measure_statistics(model, {kQuery}, tiny_texts(2), quiet_context()), kQuery, Operand::weight);
  EXPECT_EQ(weight.tensor, std::string(kQuery) + ".weight_quantizer");
  // Half of the weights are pruned, and a few more are rounded to 0.
  EXPECT_GE(weight.values.zero_share(), 0.5);
  EXPECT_LT(weight.values.zero_share(), 0.55);
}

TEST(MeasureStatistics, TakesTheLayersThatAreNamed) {
  const std::vector<TensorStatistics> all =
      measure_statistics(tiny_model(), {"*.LayerNorm"}, tiny_texts(2), quiet_context());
  EXPECT_GT(all.size(), 0u);
  for (const TensorStatistics& one : all) EXPECT_TRUE(one.layer.ends_with(".LayerNorm"));
  expect_user_error("no operation is called 'nothing.*'", [] {
    measure_statistics(tiny_model(), {"nothing.*"}, tiny_texts(2), quiet_context());
  });
}

TEST(MeasureStatistics, HasTheSameBitsForAnyNumberOfThreads) {
  Context one(1, /*quiet=*/true), three(3, /*quiet=*/true);
  const Table a = statistics_table(measure_statistics(tiny_model(), {"*"}, tiny_texts(6), one)),
              b = statistics_table(measure_statistics(tiny_model(), {"*"}, tiny_texts(6), three));
  EXPECT_EQ(to_csv(a), to_csv(b));
}

}  // namespace
}  // namespace hone
