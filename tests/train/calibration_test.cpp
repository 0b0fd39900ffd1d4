#include "hone/train/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/train/batch_inputs.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::floats_of;
using testing::tiny_model;
using testing::tiny_texts;

constexpr std::int64_t kBatchSize = 4;

struct Calibrated {
  Graph graph;  // quantized, in training mode
  ParameterStore parameters;
};

Calibrated calibrated(const Model& model, std::string_view format, const EncodedSet& data,
                      std::int64_t batch_count, int threads = 1) {
  Calibrated result{build_graph(model, builtin().ops, {}), model.parameters};
  quantize(result.graph, testing::plan_of(result.graph, format));
  ThreadPool pool(threads);
  calibrate(result.graph, result.parameters, data, /*pad_id=*/0, {kBatchSize, batch_count},
            builtin(), pool);
  return result;
}

// The greatest magnitude that node `name` of the unquantized model gives on the first batches.
double observed(const Model& model, const std::string& name, const EncodedSet& data,
                std::int64_t batch_count) {
  Graph graph = build_graph(model, builtin().ops, {});
  remove_dropout(graph);
  graph.set_output("seen", {graph.find(name), 0});
  ThreadPool pool(1);
  Interpreter interpreter(graph, builtin(), pool);
  ParameterStore parameters = model.parameters;
  double most = 0;
  for (std::int64_t i = 0; i < batch_count; ++i) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < kBatchSize; ++row) rows.push_back(i * kBatchSize + row);
    const NamedTensors outputs =
        interpreter.run(batch_inputs(make_batch(data, rows, /*pad_id=*/0)), parameters);
    for (const float value : floats_of(outputs.at("seen")))
      most = std::max(most, std::fabs(static_cast<double>(value)));
  }
  return most;
}

float state(const Calibrated& calibrated, const std::string& quantizer) {
  return floats_of(calibrated.parameters.at(quantizer + ".frac"))[0];
}

// integer.h: the largest fraction that holds the observed range.
void expect_largest_fraction(double magnitude, int width, float fraction) {
  const double limit = std::ldexp(1.0, width - 1) - 1;
  EXPECT_LE(magnitude * std::exp2(fraction), limit);
  EXPECT_GT(magnitude * std::exp2(fraction + 1), limit);
}

TEST(Calibration, ChoosesTheLargestFractionThatHoldsWhatIsRead) {
  const Model model = tiny_model();
  const EncodedSet data = tiny_texts(12);
  for (const int width : {4, 8}) {
    SCOPED_TRACE(width);
    const Calibrated result =
        calibrated(model, fmt::format("integer(width={})", width), data, /*batch_count=*/3);
    for (const char* name : {"bert.encoder.layer.1.output.dense", "classifier"}) {
      SCOPED_TRACE(name);
      double weight = 0;
      for (const float value : floats_of(model.parameters.at(std::string(name) + ".weight")))
        weight = std::max(weight, std::fabs(static_cast<double>(value)));
      expect_largest_fraction(weight, width,
                              state(result, std::string(name) + ".weight.quantizer"));
    }
    const std::vector<std::pair<std::string, std::string>> inputs = {
        {"bert.encoder.layer.0.attention.self.query", "bert.embeddings.LayerNorm"},
        {"bert.encoder.layer.1.output.dense",
         "bert.encoder.layer.1.intermediate.intermediate_act_fn"},
        {"classifier", "bert.pooler.activation"}};
    for (const auto& [reader, read] : inputs) {
      SCOPED_TRACE(reader);
      expect_largest_fraction(observed(model, read, data, 3), width,
                              state(result, reader + ".input_quantizer"));
    }
  }
}

TEST(Calibration, GivesEveryQuantizerItsState) {
  const Calibrated result = calibrated(tiny_model(), "integer(width=8)", tiny_texts(4), 1);
  std::int64_t states = 0;
  for (const Node* parameter : result.graph.of_kind(NodeKind::parameter)) {
    EXPECT_TRUE(result.parameters.contains(parameter->name())) << parameter->name();
    states += parameter->name().ends_with(".frac") ? 1 : 0;
  }
  EXPECT_EQ(states, 14 * 2 + 10);  // weights and biases; queries, keys and values share an input
}

TEST(Calibration, LooksAtTheFirstBatchesOnly) {
  const Model model = tiny_model();
  const EncodedSet data = tiny_texts(12);
  EncodedSet first = data;
  first.ids.resize(4);
  first.labels.resize(4);
  const auto states = [&](const EncodedSet& set, std::int64_t batches) {
    return calibrated(model, "integer(width=24)", set, batches).parameters;
  };
  EXPECT_EQ(testing::changed_parameters(states(data, 1), states(first, 32)),
            std::vector<std::string>{});
  // The classifier reads one value per text and hidden unit; further texts widen the range of some.
  const double one = observed(model, "bert.encoder.layer.0.output.add", data, 1);
  EXPECT_GT(observed(model, "bert.encoder.layer.0.output.add", data, 3), one);
}

TEST(Calibration, GivesTheSameStatesForAnyNumberOfThreads) {
  const EncodedSet data = tiny_texts(12);
  const auto states = [&](int threads) {
    return calibrated(tiny_model(), "integer(width=8)", data, 3, threads).parameters;
  };
  EXPECT_EQ(testing::changed_parameters(states(1), states(3)), std::vector<std::string>{});
}

TEST(Calibration, DoesNothingForFormatsWithoutState) {
  const Model model = tiny_model();
  const Calibrated result = calibrated(model, "integer(width=8,frac=4)", {}, 1);
  EXPECT_EQ(result.parameters.tensors().size(), model.parameters.tensors().size());
}

TEST(Calibration, NeedsExamples) {
  expect_user_error("calibration needs examples: the training split is empty",
                    [] { calibrated(tiny_model(), "integer(width=8)", {}, 1); });
}

}  // namespace
}  // namespace hone
