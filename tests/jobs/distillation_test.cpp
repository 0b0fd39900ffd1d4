#include "hone/jobs/distillation.h"

#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Parent tiny_parent(const EncodedSet& texts) {
  return {
      "parent", {.model = tiny_model(), .tokenizer = synthetic_tokenizer(), .folder = {}}, texts};
}

FineTuneOptions steps_of(std::int64_t steps) {
  FineTuneOptions options;
  options.training.max_steps = steps;
  options.training.batch_size = 4;
  return options;
}

// What trainings share changes no bit of what each would be told alone, and is told once.
TEST(Distillation, AsksAParentForEachTextOnce) {
  const EncodedSet texts = tiny_texts(32);
  const auto ask = [&](std::int64_t steps, ParentLogits* asked) {
    FineTuneOptions training = steps_of(steps);
    learn_from(tiny_parent(texts), texts, {.parent = "parent"}, /*seed=*/1, /*seeds=*/1, training,
               quiet_context(), asked);
    const std::span<const float> logits = training.parent_logits.values<float>();
    return std::vector<float>(logits.begin(), logits.end());
  };
  ParentLogits asked;
  ask(2, &asked);
  EXPECT_EQ(std::ranges::count(asked.known, true), 8);
  const std::vector<float> shared = ask(8, &asked);
  EXPECT_EQ(std::ranges::count(asked.known, true), 32);
  EXPECT_EQ(shared, ask(8, nullptr));
  // What is known is not asked again.
  const Tensor other = Tensor::zeros(DType::f32, asked.logits.sizes());
  asked.logits = other;
  ask(8, &asked);
  EXPECT_TRUE(std::ranges::all_of(asked.logits.values<float>(), [](float x) { return x == 0; }));
}

}  // namespace
}  // namespace hone::testing
