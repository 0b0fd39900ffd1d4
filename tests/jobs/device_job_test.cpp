#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/prediction.h"
#include "hone/jobs/prune/shapes.h"
#include "hone/jobs/prune/sparsify.h"
#include "hone/jobs/run_identity.h"
#include "hone/study/layer_sensitivity.h"
#include "hone/study/measure.h"
#include "hone/study/sensitivity.h"
#include "hone/study/tensor_statistics.h"
#include "hone/tensor/dense.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Tests of jobs on a device whose memory the host cannot access.
namespace hone {
namespace {

struct DeviceOutcome {
  std::vector<std::vector<float>> logits;  // of every resulting model
  std::vector<ParameterStore> parameters;  // of the same models, copied to the host
  std::vector<double> noise;
};

void keep(const Model& model, Context& context, DeviceOutcome& outcome) {
  outcome.logits.push_back(
      measure(model, testing::tiny_splits().test, /*batch_size=*/8, context, "measure").logits);
  outcome.parameters.push_back(model.parameters.on(cpu()));
}

// Runs training, quantization after and during training, rounding, noise measurement and evaluation.
DeviceOutcome all_jobs(Context& context) {
  DeviceOutcome outcome;
  const EncodedSplits& data = testing::tiny_splits();
  Model model = testing::tiny_model();
  TrainingLog log;
  FineTuneOptions training;
  training.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 2};
  fine_tune(model, data, training, log, context);
  keep(model, context, outcome);
  for (const char* format : {"integer(width=8)", "int(bits=4)"}) {
    CompressOptions options;
    options.calibration = {.batch_size = 8, .batch_count = 2};
    options.plan = plan_with_format(model, testing::format_called(format));
    keep(compress(model, data, options, context), context, outcome);
    options.qat = true;
    options.fine_tune = training;
    const Model trained = compress(model, data, options, context);
    keep(trained, context, outcome);
    keep(round_weights(trained, context), context, outcome);
    for (const OperandNoise& one :
         measure_noise(model, options.plan, data.train, options.calibration, context))
      outcome.noise.push_back(one.noise.snr_db());
  }
  return outcome;
}

/// The host and the fake device. Both run the reference kernels, so they must get the same bits.
struct Places {
  testing::FakeDevice device;
  Context here{/*threads=*/1, /*quiet=*/true}, there{/*threads=*/1, /*quiet=*/true};

  Places() {
    here.library.kernels.clear();
    there.library = testing::fake_library();
    there.device = &device;
  }
};

void expect_same(const DeviceOutcome& got, const DeviceOutcome& expected) {
  EXPECT_EQ(got.logits, expected.logits);
  EXPECT_EQ(got.noise, expected.noise);
  ASSERT_EQ(got.parameters.size(), expected.parameters.size());
  for (std::size_t i = 0; i < expected.parameters.size(); ++i)
    for (const auto& [name, tensor] : expected.parameters[i].tensors())
      EXPECT_TRUE(std::ranges::equal(host_bytes(dense_on(tensor, cpu())),
                                     host_bytes(dense_on(got.parameters[i].at(name), cpu()))))
          << i << ": " << name;
}

TEST(DeviceJob, GivesTheBitsOfTheHost) {
  Places places;
  expect_same(all_jobs(places.there), all_jobs(places.here));
}

// Prunes weights by every method, before and during training, inputs, heads and neurons.
DeviceOutcome prunings(Context& context) {
  DeviceOutcome outcome;
  const EncodedSplits& data = testing::tiny_splits();
  const CalibrationRun calibration{.batch_size = 8, .batch_count = 2};
  const auto prune = [&](PruneMethod method, bool cubic, std::optional<double> activations = {}) {
    SparsifyOptions options{
        .activations = activations, .calibration = calibration, .trains = cubic, .cubic = cubic};
    options.pruning.rule.method = method;
    options.fine_tune.training = {.optimizer = {.learning_rate = 1e-2}, .max_steps = 3};
    TrainingLog log;
    keep(sparsify(testing::tiny_model(), data, options, log, context), context, outcome);
  };
  for (const PruneMethod method :
       {PruneMethod::l1, PruneMethod::wanda, PruneMethod::first_order, PruneMethod::sparsegpt})
    prune(method, /*cubic=*/false);
  for (const PruneMethod method : {PruneMethod::l1, PruneMethod::movement})
    prune(method, /*cubic=*/true);
  prune(PruneMethod::l1, /*cubic=*/false, /*activations=*/0.5);
  Model model = testing::tiny_model();
  const StructureOptions structure{.kinds = {UnitKind::heads, UnitKind::neurons},
                                   .method = "first_order"};
  prune_units(
      model, structure,
      unit_scores(structure.method, model, structure.kinds, data.train, calibration, context),
      context);
  keep(model, context, outcome);
  return outcome;
}

TEST(DeviceJob, PrunesToTheBitsOfTheHost) {
  Places places;
  expect_same(prunings(places.there), prunings(places.here));
}

// Measures single layers and whole models in several formats, and packs a model on the device.
DeviceOutcome studies(Context& context) {
  DeviceOutcome outcome;
  const EncodedSplits& data = testing::choice_splits();
  const CalibrationRun calibration{.batch_size = 8, .batch_count = 2};
  const Model model = testing::tiny_model();
  const Format narrow = testing::format_called("integer(width=6,frac=3)");
  const std::vector<LayerChange> changes = {
      {.label = "none"},
      {.label = "narrow", .formats = LayerFormats::reads(narrow)},
      {.label = "pruned", .sparsity = {.share = 0.5}}};
  for (const LayerSensitivity& one :
       measure_sensitivity(model, {changes[1], changes[2]}, data.validation, data.train,
                           calibration, {}, context)
           .layers)
    outcome.noise.push_back(one.divergence.mean);
  std::vector<std::string> layers;
  const Graph plain = unquantized_graph(model);
  for (const Node* node : plain.operations(kDefaultLayer)) layers.push_back(node->name());
  std::vector<std::vector<std::size_t>> allocations(2, std::vector<std::size_t>(layers.size(), 1));
  allocations[1].back() = 2;
  for (const Divergence& one :
       measure_allocations(model, layers, changes, allocations, data.validation, data.train,
                           calibration, {}, context))
    outcome.noise.push_back(one.mean);
  for (const TensorStatistics& one : measure_statistics(model, {}, data.validation, context))
    outcome.noise.push_back(one.standard_deviation().value_or(-1));
  CompressOptions options{.plan = plan_with_format(model, narrow), .calibration = calibration};
  keep(packed_to_run(compress(model, data, options, context), context), context, outcome);
  return outcome;
}

TEST(DeviceJob, MeasuresFormatsWithTheNumbersOfTheHost) {
  Places places;
  expect_same(studies(places.there), studies(places.here));
}

TEST(DeviceJob, IsKnownByItsDeviceAndPrecision) {
  Places places;
  EXPECT_EQ(computed_by(places.here.session()), "");
  EXPECT_EQ(computed_by(places.there.session()), "fake, no hardware");
  places.there.values = DType::bf16;
  EXPECT_EQ(computed_by(places.there.session()), "fake, no hardware, values in bf16");
}

TEST(DeviceJob, NamesTheDeviceOfLatencies) {
  Places places;
  const Model model = testing::tiny_model();
  const EncodedSet texts = testing::tiny_texts(3);
  const ModelTimes there = time_models({model, texts}, {model, texts}, {1}, places.there).front();
  EXPECT_EQ(to_json(there)["device"], "fake:0, no hardware");
  EXPECT_NE(latency_title(there).find(" on fake:0 ("), std::string::npos) << latency_title(there);
  EXPECT_NE(bench_options(there).find(" --device fake:0"), std::string::npos);
  EXPECT_NE(times_line(there, 2).find(" with fake:0, no hardware; "), std::string::npos)
      << times_line(there, 2);
}

TEST(DeviceJob, ClassifiesTextsWithTheBitsOfTheHost) {
  Places places;
  const TextModel model =
      make_model("tiny", synthetic_tokenizer(), places.here, /*seed=*/42, {.names = {"a", "b"}});
  const auto logits = [&](Context& context) {
    TextPredictor predictor(model, /*cut=*/{}, /*batch_size=*/2, context);
    std::vector<std::vector<float>> all;
    for (const Prediction& one : predictor.predict(
             {{.id = 1, .text = "mena not gote"}, {.id = 2, .text = "pidi truly kerave"}}))
      all.push_back(one.logits);
    return all;
  };
  const std::vector<std::vector<float>> expected = logits(places.here);
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_EQ(logits(places.there), expected);
}

}  // namespace
}  // namespace hone
