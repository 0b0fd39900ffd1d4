#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/models/layer_rates.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_model.h"

// Short runs of Hugging Face's Trainer with common settings; see tests/README.md, "a training run".
namespace hone {
namespace {

using testing::builtin;

const fs::path kRunsFolder = test_data() / "train" / "golden";

Json golden_runs() { return read_json(kRunsFolder / "trainer_runs.json"); }

// Returns the first `count` texts of the stored batches, without padding.
EncodedSet first_texts(const TensorMap& batches, const std::string& prefix, std::int64_t count) {
  const auto ids = batches.at(prefix + "input_ids").contiguous_copy();
  const auto mask = batches.at(prefix + "attention_mask").contiguous_copy();
  const auto labels = batches.at(prefix + "labels").contiguous_copy();
  const std::int64_t width = ids.size(-1);
  EncodedSet set;
  for (std::int64_t row = 0; row < count; ++row) {
    set.labels.push_back(static_cast<std::int32_t>(labels.values<std::int64_t>()[row]));
    set.ids.emplace_back();
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
      if (mask.values<std::int64_t>()[i] != 0)
        set.ids.back().push_back(static_cast<std::int32_t>(ids.values<std::int64_t>()[i]));
  }
  return set;
}

TrainingOptions options_of_run(const Json& all, const Json& run) {
  TrainingOptions options;
  options.optimizer.learning_rate = all["learning_rate"];
  options.epochs = all["epochs"];
  options.batch_size = run["per_device_train_batch_size"];
  options.gradient_accumulation_steps = run.value("gradient_accumulation_steps", 1);
  options.label_smoothing_factor = run.value("label_smoothing_factor", 0.0);
  options.lr_scheduler_type = run["lr_scheduler_type"];
  options.warmup_steps = run.value("warmup_steps", 0);
  options.shuffle = false;
  return options;
}

// The Trainer runs in float64 and sums losses in float32. Our float32 runs must be as close as in `curve_test`.
void expect_run(const std::string& name,
                const std::function<void(Model&, TrainingOptions&, ExampleSource&)>& set_up = {}) {
  const Json all = golden_runs();
  const Json& run = all["runs"][name];
  const TensorMap batches = read_safetensors(kRunsFolder / "batches.safetensors").tensors;
  const EncodedSet texts = first_texts(batches, "", all["texts"]),
                   last = first_texts(batches, "final/", 8);
  Model model =
      load_model(kRunsFolder / "checkpoint", builtin().ops, builtin().formats, /*seed=*/1);
  TrainingOptions options = options_of_run(all, run);
  ExampleSource examples = text_examples(texts);
  if (set_up) set_up(model, options, examples);
  std::vector<StepRecord> steps;
  ThreadPool pool(2);
  train(model.graph, model.parameters, examples, options, {builtin(), pool},
        {.on_step = [&](const StepRecord& record) { steps.push_back(record); }});
  ASSERT_EQ(steps.size(), run["loss"].size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(steps[i].loss, run["loss"][i].get<double>(), 1e-5) << i;
    EXPECT_NEAR(steps[i].grad_norm, run["gradient_norm"][i].get<double>(), 7e-5) << i;
    EXPECT_NEAR(steps[i].epoch, run["epoch"][i].get<double>(), 1e-12) << i;
  }
  double squares = 0;
  for (const auto& [parameter, tensor] : model.parameters.tensors())
    for (const float value : testing::floats_of(tensor))
      squares += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(squares), run["parameter_norm"].get<double>(), 2e-5);
  Predictor predictor(unquantized_graph(model), model.parameters, {builtin(), pool});
  const std::vector<float> logits = predictor.rows(text_examples(last), 8);
  for (std::size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(logits[i], run["final_logits"][i / 2][i % 2].get<double>(), 2e-5) << i;
}

TEST(TrainerRuns, AccumulateGradientsOfSmoothedLabelsAlongACosine) { expect_run("accumulated"); }

TEST(TrainerRuns, LearnFromAParent) {
  expect_run("distilled", [](Model&, TrainingOptions& options, ExampleSource& examples) {
    const Json all = golden_runs();
    std::vector<float> logits;
    for (const Json& row : all["parent_logits"])
      for (const Json& value : row) logits.push_back(value);
    options.distillation = {.temperature = 3, .alpha = 0.3};
    examples = with_column(examples, kTeacherLogits,
                           Tensor::of<float>({std::ssize(logits) / 2, 2}, logits));
  });
}

TEST(TrainerRuns, LearnMoreSlowlyBelow) {
  expect_run("layerwise", [](Model& model, TrainingOptions& options, ExampleSource&) {
    options.optimizer.rate_factors = layer_rates(model, 0.8);
  });
}

TEST(Schedules, AreThoseOfTransformers) {
  const Json all = golden_runs();
  std::vector<std::string> seen;
  for (const Json& row : all["schedules"]) {
    const Schedule& schedule = find_schedule(row["name"].get<std::string>());
    seen.emplace_back(schedule.name);
    for (std::size_t i = 0; i < row["rates"].size(); ++i)
      EXPECT_NEAR(schedule.rate(all["learning_rate"], static_cast<std::int64_t>(i), row["steps"],
                                row["warmup_steps"]),
                  row["rates"][i].get<double>(), 5e-4 * std::ldexp(1.0, -50))
          << row["name"] << " " << i;
  }
  for (const std::string& name : schedule_names())
    EXPECT_NE(std::ranges::find(seen, name), seen.end()) << name;
}

}  // namespace
}  // namespace hone
