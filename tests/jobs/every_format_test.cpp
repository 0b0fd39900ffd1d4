#include <gtest/gtest.h>

#include <cmath>

#include "hone/jobs/compress.h"
#include "hone/passes/quantize.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

// Tests that every format must pass, including new ones.
namespace hone {
namespace {

using testing::tiny_model;

// Returns a plan for weights and inputs, or for weights only if the format keeps a state per row.
QuantizationPlan plan_of(const Format& format) {
  const Graph graph = unquantized_graph(tiny_model());
  if (observes_rows(format)) return uniform_plan(graph, {.weight = format});
  return uniform_plan(graph, {.input = format, .weight = format});
}

std::vector<std::string> every_format() {
  std::vector<std::string> texts;
  for (const auto& [name, def] : testing::quiet_context().library.formats) texts.push_back(name);
  for (const char* learned :
       {"int(scale=learned)", "int(per=row,scale=learned)", "binary_scaling(scale=learned)",
        "binary_residual_sign(scale=learned)", "ternary(scale=learned)"})
    texts.emplace_back(learned);
  return texts;
}

class EveryFormat : public ::testing::TestWithParam<std::string> {
 protected:
  Model quantized(bool qat) {
    CompressOptions options;
    options.plan = plan_of(parse_format(GetParam(), testing::quiet_context().library.formats));
    options.qat = qat;
    options.fine_tune.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 3};
    options.calibration.batch_size = 8;
    options.calibration.check_objections = false;
    return compress(tiny_model(), testing::tiny_splits(), options, testing::quiet_context());
  }
  std::vector<float> logits_of(const Model& model) {
    return measure(model, testing::tiny_splits().test, /*batch_size=*/8, testing::quiet_context(),
                   "test")
        .logits;
  }
};

TEST_P(EveryFormat, QuantizesAfterTraining) {
  const Model model = quantized(/*qat=*/false);
  const std::vector<float> logits = logits_of(model), before = logits_of(tiny_model());
  EXPECT_NE(logits, before);
  for (const float logit : logits) ASSERT_TRUE(std::isfinite(logit));
}

TEST_P(EveryFormat, TrainsThroughItsQuantizersAndTheirLearnedState) {
  const Model untrained = quantized(/*qat=*/false), trained = quantized(/*qat=*/true);
  bool weights_moved = false, states_moved = false, learns = false;
  for (const std::string& name :
       testing::changed_parameters(untrained.parameters, trained.parameters)) {
    weights_moved = weights_moved || name.ends_with("query.weight");
    states_moved = states_moved || trained.graph.find(name)->role() == ParameterRole::format_state;
  }
  for (const FormatStateDef& state :
       states_of(parse_format(GetParam(), testing::quiet_context().library.formats)))
    learns = learns || state.learned;
  EXPECT_TRUE(weights_moved);
  EXPECT_EQ(states_moved, learns);
}

TEST_P(EveryFormat, SavesWhatItMeasured) {
  const TemporaryFolder folder;
  const Model rounded = round_weights(quantized(/*qat=*/true), testing::quiet_context());
  save_model(rounded, folder.path());
  const Model again = load_model(folder.path(), testing::quiet_context().library.ops,
                                 testing::quiet_context().library.formats, /*seed=*/1);
  EXPECT_EQ(again.quantization->plan, rounded.quantization->plan);
  EXPECT_EQ(logits_of(again), logits_of(rounded));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryFormat, ::testing::ValuesIn(every_format()), test_name);

}  // namespace
}  // namespace hone
