#include <gtest/gtest.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_model.h"

// Compares two hundred steps with PyTorch's AdamW, step by step; see tests/README.md, "a training run".
namespace hone {
namespace {

using testing::builtin;

const fs::path kGolden = test_data() / "train" / "golden";

// Returns the stored batches as texts without padding, which the trainer adds again. Row 0 of every batch has the full
// width.
EncodedSet texts_of(const TensorMap& batches, const std::string& prefix) {
  const auto ids = batches.at(prefix + "input_ids").contiguous_copy();
  const auto mask = batches.at(prefix + "attention_mask").contiguous_copy();
  const auto labels = batches.at(prefix + "labels").contiguous_copy();
  const std::int64_t width = ids.size(-1);
  EncodedSet set;
  for (const std::int64_t label : labels.values<std::int64_t>())
    set.labels.push_back(static_cast<std::int32_t>(label));
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    if (i % width == 0) set.ids.emplace_back();
    if (mask.values<std::int64_t>()[i] != 0)
      set.ids.back().push_back(static_cast<std::int32_t>(ids.values<std::int64_t>()[i]));
  }
  return set;
}

struct Run {
  Model model;
  EncodedSet final_batch;
  std::vector<StepRecord> steps;
};

Run train_golden(const Json& curve, const Library& library) {
  const TensorMap batches = read_safetensors(kGolden / "batches.safetensors").tensors;
  Run run{load_model(kGolden / "checkpoint", library.ops, library.formats, /*seed=*/1),
          texts_of(batches, "final/"),
          {}};
  TrainingOptions options;
  options.optimizer.learning_rate = curve["learning_rate"];
  options.optimizer.max_grad_norm = curve["maximum_gradient_norm"];
  options.batch_size = batches.at("input_ids").size(1);
  options.shuffle = false;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { run.steps.push_back(record); };
  ThreadPool pool(2);
  train(run.model.graph, run.model.parameters, text_examples(texts_of(batches, "")), options,
        {library, pool}, callbacks);
  return run;
}

// PyTorch's float32 stays within 1e-6 (losses), 7e-5 (norms of up to some tens) and 2e-6 (final logits) of its float64.
// Another order of summation deviates as much, and ten times that is allowed.
void expect_golden_run(const Library& library) {
  const Json curve = read_json(kGolden / "curve.json");
  const Json& truth = curve["float64"];
  const Run run = train_golden(curve, library);
  ASSERT_EQ(run.steps.size(), curve["steps"].get<std::size_t>());
  double norm_distance = 0, loss_distance = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    // PyTorch computes 1 - step/steps, we compute (steps - step)/steps. They differ by the rounding of numbers up to 1.
    EXPECT_NEAR(run.steps[i].learning_rate, curve["learning_rates"][i].get<double>(),
                5e-4 * std::ldexp(1.0, -52));
    loss_distance =
        std::max(loss_distance, std::fabs(run.steps[i].loss - truth["loss"][i].get<double>()));
    norm_distance = std::max(
        norm_distance, std::fabs(run.steps[i].grad_norm - truth["gradient_norm"][i].get<double>()));
  }
  EXPECT_LT(loss_distance, 1e-5);
  EXPECT_LT(norm_distance, 7e-4);

  double squares = 0;
  for (const auto& [name, tensor] : run.model.parameters.tensors())
    for (const float value : testing::floats_of(tensor))
      squares += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(squares), truth["parameter_norm"].get<double>(), 2e-5);

  ThreadPool pool(1);
  Predictor predictor(unquantized_graph(run.model), run.model.parameters, {library, pool});
  const std::vector<float> logits = predictor.rows(text_examples(run.final_batch), 8);
  for (std::size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(logits[i], truth["final_logits"][i / 2][i % 2].get<double>(), 2e-5);
}

TEST(TrainingCurve, IsThatOfPyTorch) { expect_golden_run(builtin()); }

TEST(LongTrainingCurve, IsThatOfPyTorchOnReferencesAlone) {
  expect_golden_run({builtin().ops, builtin().formats, {}, builtin().passes});
}

}  // namespace
}  // namespace hone
