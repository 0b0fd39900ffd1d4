#include <gtest/gtest.h>

#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/evaluate.h"
#include "tests/support/tiny_model.h"

// Training on a device whose memory the host cannot access.
namespace hone {
namespace {

using testing::tiny_model;

const TrainingOptions kOptions{
    .optimizer = {.learning_rate = 1e-3, .weight_decay = 0.1}, .max_steps = 4, .batch_size = 4};

std::vector<double> train_on(Device& device, const Library& library, ParameterStore& parameters,
                             const EncodedSet& texts = testing::tiny_texts(12),
                             const TrainingOptions& options = kOptions) {
  std::vector<double> losses;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { losses.push_back(record.loss); };
  ThreadPool pool(1);
  const Graph graph = tiny_model().graph;
  train(graph, parameters, text_examples(texts), options, {library, pool, device}, callbacks);
  return losses;
}

// The fake device runs the references, so the host's references must give the same bits.
TEST(TrainingDevice, TrainsInItsOwnMemory) {
  testing::FakeDevice device;
  const ParameterStore initial = tiny_model().parameters;
  ParameterStore there = initial.on(device), here = initial;
  EXPECT_EQ(train_on(device, testing::fake_library(), there),
            train_on(cpu(), testing::references(), here));
  EXPECT_EQ(there.tensors().size(), here.tensors().size());
  for (const auto& [name, tensor] : there.tensors()) EXPECT_EQ(&tensor.device(), &device) << name;
  EXPECT_EQ(testing::changed_parameters(here, there), std::vector<std::string>{});
  EXPECT_FALSE(testing::changed_parameters(initial, there).empty());
}

TEST(TrainingDevice, KeepsNothingThereAfterwards) {
  testing::FakeDevice device;
  ParameterStore parameters = tiny_model().parameters.on(device);
  const std::size_t before = device.used_bytes();
  train_on(device, testing::fake_library(), parameters);
  EXPECT_EQ(device.used_bytes(), before);
}

// A step of several batches keeps one batch and one sum of gradients in memory, for any number of batches.
TEST(TrainingDevice, HoldsNoMoreForMoreBatchesAStep) {
  EncodedSet texts = testing::tiny_texts(24);
  for (auto& ids : texts.ids) ids.resize(6, 5);  // makes all batches equal
  const auto peak = [&](std::int64_t batch, std::int64_t together) {
    testing::FakeDevice device;
    ParameterStore parameters = tiny_model().parameters.on(device);
    train_on(device, testing::fake_library(), parameters, texts,
             {.max_steps = 1, .batch_size = batch, .gradient_accumulation_steps = together});
    return device.peak_bytes();
  };
  const std::size_t few = peak(2, 2), many = peak(2, 12), at_once = peak(24, 1);
  EXPECT_EQ(few, many);
  EXPECT_LT(many, at_once);
}

}  // namespace
}  // namespace hone
