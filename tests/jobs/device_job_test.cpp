#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/prediction.h"
#include "hone/study/measure.h"
#include "hone/study/sensitivity.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Jobs where the host cannot reach the memory that graphs run in.
namespace hone {
namespace {

struct DeviceOutcome {
  std::vector<std::vector<float>> logits;  // of every model made
  std::vector<ParameterStore> parameters;  // and what it holds, on the host
  std::vector<double> noise;
};

void keep(const Model& model, Context& context, DeviceOutcome& outcome) {
  outcome.logits.push_back(
      measure(model, testing::tiny_splits().test, /*batch_size=*/8, context, "measure").logits);
  outcome.parameters.push_back(model.parameters.on(cpu()));
}

// Training, quantization after and during training, rounding, noise, evaluation.
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
    options.plan = one_format(model, testing::format_called(format));
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

/// The host and the fake device, which runs the references, so the host on its references must get the same bits.
struct Places {
  testing::FakeDevice device;
  Context here{/*threads=*/1, /*quiet=*/true}, there{/*threads=*/1, /*quiet=*/true};

  Places() {
    here.library.kernels.clear();
    there.library = testing::fake_library();
    there.device = &device;
  }
};

TEST(DeviceJob, GivesTheBitsOfTheHost) {
  Places places;
  const DeviceOutcome expected = all_jobs(places.here), got = all_jobs(places.there);
  EXPECT_EQ(got.logits, expected.logits);
  EXPECT_EQ(got.noise, expected.noise);
  for (std::size_t i = 0; i < expected.parameters.size(); ++i)
    EXPECT_EQ(testing::changed_parameters(expected.parameters[i], got.parameters[i]),
              std::vector<std::string>{})
        << i;
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
