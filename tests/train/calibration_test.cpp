#include "hone/train/calibration.h"
#include "hone/runtime/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/data/row_order.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/train/text_examples.h"
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
  Graph graph;  // quantized, for training
  ParameterStore parameters;
};

Calibrated calibrated(const Model& model, std::string_view format, const EncodedSet& data,
                      std::int64_t batch_count, int threads = 1) {
  Calibrated result{unquantized_graph(model), model.parameters};
  quantize(result.graph, testing::plan_of(result.graph, format));
  ThreadPool pool(threads);
  calibrate(result.graph, result.parameters, text_examples(data), {kBatchSize, batch_count},
            {builtin(), pool});
  return result;
}

// Returns the largest magnitude of node `name` in the unquantized model on the batches of the sample.
double observed(const Model& model, const std::string& name, const EncodedSet& data,
                std::int64_t batch_count) {
  Graph graph = unquantized_graph(model);
  remove_dropout(graph);
  graph.set_output("seen", {graph.find(name), 0});
  ThreadPool pool(1);
  Interpreter interpreter(graph, builtin(), pool);
  ParameterStore parameters = model.parameters;
  double most = 0;
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), {kBatchSize, batch_count});
  for (const std::span<const std::int64_t> rows : batches(sample, kBatchSize)) {
    const NamedTensors outputs = interpreter.run(text_examples(data).batch(rows, 0), parameters);
    for (const float value : floats_of(outputs.at("seen")))
      most = std::max(most, std::fabs(static_cast<double>(value)));
  }
  return most;
}

float state(const Calibrated& calibrated, const std::string& quantizer) {
  return floats_of(calibrated.parameters.at(quantizer + ".frac"))[0];
}

// As in integer.h: the largest fraction that covers the observed range.
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

TEST(Calibration, LooksAtItsSampleOnly) {
  const Model model = tiny_model();
  const EncodedSet data = tiny_texts(12);
  EncodedSet sample;
  for (const std::int64_t row : calibration_rows(12, {kBatchSize, 1})) {
    sample.ids.push_back(data.ids[static_cast<std::size_t>(row)]);
    sample.labels.push_back(data.labels[static_cast<std::size_t>(row)]);
  }
  ASSERT_EQ(sample.size(), 4);
  // An affine `int` stores a scale and a zero point, which depend on both ends of the range.
  const auto states = [&](const EncodedSet& set, std::int64_t batches) {
    return calibrated(model, "int(bits=8,range=affine)", set, batches).parameters;
  };
  EXPECT_EQ(testing::changed_parameters(states(data, 1), states(sample, 32)),
            std::vector<std::string>{});
  EXPECT_FALSE(testing::changed_parameters(states(data, 1), states(data, 3)).empty());
}

// As in aclImdb, whose first half is negative.
TEST(Calibration, LooksAtAllClassesOfSortedTexts) {
  constexpr std::int64_t kTexts = 1000, kHalf = kTexts / 2;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<std::int64_t> rows = calibration_rows(kTexts, {8, 4, {}, true, seed});
    EXPECT_EQ(std::set<std::int64_t>(rows.begin(), rows.end()).size(), 32u);
    const auto first_half =
        std::ranges::count_if(rows, [&](std::int64_t row) { return row < kHalf; });
    EXPECT_GT(first_half, 4);
    EXPECT_LT(first_half, 28);
    EXPECT_EQ(rows, calibration_rows(kTexts, {8, 4, {}, true, seed}));
    EXPECT_NE(rows, calibration_rows(kTexts, {8, 4, {}, true, seed + 1}));
  }
}

TEST(Calibration, KnowsWhetherItLooksAtTexts) {
  const auto looks = [](const LayerFormats& formats) {
    Graph graph = unquantized_graph(tiny_model());
    quantize(graph, uniform_plan(graph, formats));
    return calibration_reads_examples(graph);
  };
  const Format calibrated = parse_format("integer(width=8)", builtin().formats),
               fixed = parse_format("integer(width=8,frac=4)", builtin().formats);
  EXPECT_TRUE(looks(LayerFormats::reads(calibrated)));
  EXPECT_FALSE(looks(LayerFormats::reads(fixed)));
  EXPECT_FALSE(looks({.weight = calibrated}));
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

Format format_called(std::string_view text) { return parse_format(text, builtin().formats); }

// Returns the states of a model whose linears use `formats`.
ParameterStore states_of_plan(const Model& model, const LayerFormats& formats,
                              const CalibrationRun& run) {
  Graph graph = unquantized_graph(model);
  quantize(graph, uniform_plan(graph, formats));
  ParameterStore parameters = model.parameters;
  ThreadPool pool(1);
  calibrate(graph, parameters, text_examples(tiny_texts(12)), run, {builtin(), pool});
  return parameters;
}

TEST(Calibration, GivesEveryRowOfAWeightItsState) {
  const Model model = tiny_model();
  const ParameterStore states =
      states_of_plan(model, {.weight = format_called("int(bits=8,per=row,scale=static)")}, {});
  const std::string layer = "bert.encoder.layer.0.output.dense";
  const std::vector<float> weight = floats_of(model.parameters.at(layer + ".weight"));
  const Tensor& scale = states.at(layer + ".weight.quantizer.scale");
  ASSERT_EQ(scale.sizes(), Sizes{32});
  for (std::size_t row = 0; row < 32; ++row) {
    float largest = 0;
    for (std::size_t i = 0; i < 64; ++i)
      largest = std::max(largest, std::fabs(weight[row * 64 + i]));
    EXPECT_FLOAT_EQ(floats_of(scale)[row], largest / 127) << row;
  }
}

TEST(Calibration, CannotKeepAStateForEveryRowOfAnInput) {
  const Format rows = format_called("int(bits=8,per=row,scale=static)");
  expect_user_error(to_string(rows) + " has a scale per row, but f32[B, S, 32] has no fixed rows",
                    [&] { states_of_plan(tiny_model(), {.input = rows}, {}); });
}

// The largest value is 1.875 2^-12.
constexpr const char* kHopeless = "minifloat_ieee(width=8,exponent_width=4,exponent_bias=27)";

TEST(Calibration, ReportsTheObjectionOfAFormatWithItsQuantizer) {
  const std::string weights =
      user_error_of([] { states_of_plan(tiny_model(), {.weight = format_called(kHopeless)}, {}); });
  EXPECT_TRUE(weights.starts_with(
      "%bert.encoder.layer.0.attention.self.query.weight.quantizer: minifloat_ieee("))
      << weights;
  EXPECT_NE(weights.find("the median magnitude of the values is 0.1"), std::string::npos)
      << weights;
  EXPECT_NE(weights.find("use exponent_bias="), std::string::npos) << weights;
  const std::string inputs =
      user_error_of([] { states_of_plan(tiny_model(), {.input = format_called(kHopeless)}, {}); });
  EXPECT_TRUE(inputs.starts_with("%bert.encoder.layer.0.attention.self.query.input_quantizer: "))
      << inputs;
}

TEST(Calibration, HasNoObjectionToTheBetterParameter) {
  const std::string reason =
      user_error_of([] { states_of_plan(tiny_model(), {.weight = format_called(kHopeless)}, {}); });
  const std::string advice = reason.substr(reason.find("use exponent_bias=") + 4);
  const std::string better = advice.substr(0, advice.find(';'));
  EXPECT_NO_THROW(states_of_plan(
      tiny_model(),
      {.weight = format_called(fmt::format("minifloat_ieee(width=8,exponent_width=4,{})", better))},
      {}));
}

TEST(Calibration, GoesOnInSpiteOfObjectionsWhenToldSo) {
  EXPECT_NO_THROW(states_of_plan(tiny_model(), LayerFormats::reads(format_called(kHopeless)),
                                 {.check_objections = false}));
}

TEST(Calibration, LetsBiasesBe) {
  const Model plain = tiny_model();
  Model model = plain;
  for (const auto& [name, tensor] : plain.parameters.tensors()) {
    if (!name.ends_with(".bias")) continue;
    const std::vector<float> twos(static_cast<std::size_t>(tensor.count()), 2);
    model.parameters.set(name, Tensor::of<float>(tensor.sizes(), twos));
  }
  EXPECT_NO_THROW(states_of_plan(model, {.bias = format_called(kHopeless)}, {}));
}

TEST(Calibration, KeepsTheRangeThatItsRuleSays) {
  const Model model = tiny_model();
  const LayerFormats formats = LayerFormats::reads(format_called("int(bits=4)"));
  const auto scales = [&](CalibrationOptions options) {
    return states_of_plan(model, formats,
                          {.batch_size = kBatchSize, .batch_count = 3, .options = options});
  };
  const ParameterStore all = scales({}), half = scales({RangeRule::percentile, 50}),
                       mse = scales({RangeRule::mse});
  const std::string layer = "bert.encoder.layer.0.intermediate.dense";
  std::vector<float> weight = floats_of(model.parameters.at(layer + ".weight"));
  std::ranges::sort(weight);
  const auto quantile = [&](double share) {
    return weight[static_cast<std::size_t>(share * static_cast<double>(weight.size()))];
  };
  const auto scale = [&](const ParameterStore& states, const std::string& quantizer) {
    return floats_of(states.at(quantizer + ".scale"))[0];
  };
  const std::string of_weight = layer + ".weight.quantizer", of_input = layer + ".input_quantizer";
  const float middle = std::max(-quantile(0.25), quantile(0.75));
  EXPECT_NEAR(scale(half, of_weight), middle / 7, middle / 7 / 512);
  EXPECT_LT(scale(half, of_input), 0.5f * scale(all, of_input));
  for (const std::string& quantizer : {of_weight, of_input}) {
    EXPECT_LT(scale(mse, quantizer), scale(all, quantizer)) << quantizer;
    EXPECT_GT(scale(mse, quantizer), scale(half, quantizer)) << quantizer;
  }
  // With 15 levels, normal values are best clipped between 2 and 3 standard deviations.
  const double cut = 7 * scale(mse, of_weight) / 0.2;
  EXPECT_GT(cut, 2);
  EXPECT_LT(cut, 3);
}

TEST(Calibration, NeedsExamples) {
  expect_user_error("calibration needs examples: the training split is empty",
                    [] { calibrated(tiny_model(), "integer(width=8)", {}, 1); });
}

TEST(Calibration, LooksOnceForAllFormatsOfAModel) {
  const Model model = tiny_model();
  const EncodedSet texts = tiny_texts(12);
  std::int64_t batches = 0;
  ExampleSource source = text_examples(texts);
  source.batch = [&batches, batch = source.batch](auto rows, auto seed) {
    ++batches;
    return batch(rows, seed);
  };
  ThreadPool pool(1);
  CalibrationRun run{.batch_size = kBatchSize, .batch_count = 2};
  run.observed = std::make_shared<ObservedValues>();
  const auto states = [&](const Model& of, std::string_view format) {
    Graph graph = unquantized_graph(of);
    ParameterStore parameters = of.parameters;
    quantize(graph, testing::plan_of(graph, format));
    calibrate(graph, parameters, source, run, {builtin(), pool});
    return parameters;
  };
  states(model, "int(bits=8)");
  EXPECT_EQ(batches, 2);
  const ParameterStore shared = states(model, "int(bits=4)");
  EXPECT_EQ(batches, 2);
  const Calibrated apart = calibrated(model, "int(bits=4)", texts, 2);
  for (const auto& [name, tensor] : apart.parameters.tensors())
    EXPECT_EQ(floats_of(shared.at(name)), floats_of(tensor)) << name;
  // Another model and other texts require another observation.
  Model other = model;
  const std::string changed = other.parameters.tensors().begin()->first;
  other.parameters.writable(changed);
  states(other, "int(bits=4)");
  EXPECT_EQ(batches, 4);
  run.seed = 43;
  states(other, "int(bits=4)");
  EXPECT_EQ(batches, 6);
}

}  // namespace
}  // namespace hone
