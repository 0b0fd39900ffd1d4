#include "hone/jobs/distillation.h"

#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Teacher tiny_teacher(const EncodedSet& texts, std::vector<std::int32_t> classes = {}) {
  return {"teacher",
          {.model = tiny_model(), .tokenizer = synthetic_tokenizer(), .folder = {}},
          texts,
          std::move(classes)};
}

FineTuneOptions steps_of(std::int64_t steps) {
  FineTuneOptions options;
  options.training.max_steps = steps;
  options.training.batch_size = 4;
  return options;
}

// The teacher's logits are computed once for several trainings, with the same bits as for each alone.
TEST(Distillation, AsksAParentForEachTextOnce) {
  const EncodedSet texts = tiny_texts(32);
  const auto ask = [&](std::int64_t steps, TeacherLogits* asked) {
    FineTuneOptions training = steps_of(steps);
    add_teacher_logits(tiny_teacher(texts), texts, {.teacher = "teacher"}, /*seed=*/1, /*seeds=*/1,
                       training, quiet_context(), asked);
    const std::span<const float> logits = training.teacher_logits.values<float>();
    return std::vector<float>(logits.begin(), logits.end());
  };
  TeacherLogits asked;
  ask(2, &asked);
  EXPECT_EQ(std::ranges::count(asked.known, true), 8);
  const std::vector<float> shared = ask(8, &asked);
  EXPECT_EQ(std::ranges::count(asked.known, true), 32);
  EXPECT_EQ(shared, ask(8, nullptr));
  // Known logits are not computed again.
  const Tensor other = Tensor::zeros(DType::f32, asked.logits.sizes());
  asked.logits = other;
  ask(8, &asked);
  EXPECT_TRUE(std::ranges::all_of(asked.logits.values<float>(), [](float x) { return x == 0; }));
}

TEST(Distillation, MovesTheClassesOfAParentThatHasThemInAnotherOrder) {
  const EncodedSet texts = tiny_texts(8);
  const auto ask = [&](std::vector<std::int32_t> classes) {
    FineTuneOptions training = steps_of(2);
    add_teacher_logits(tiny_teacher(texts, std::move(classes)), texts, {.teacher = "teacher"},
                       /*seed=*/1,
                       /*seeds=*/1, training, quiet_context());
    const std::span<const float> logits = training.teacher_logits.values<float>();
    return std::vector<float>(logits.begin(), logits.end());
  };
  const std::vector<float> own = ask({}), other = ask({1, 0});
  for (std::size_t i = 0; i < own.size(); i += 2) {
    EXPECT_EQ(own[i], other[i + 1]);
    EXPECT_EQ(own[i + 1], other[i]);
  }
  EXPECT_NE(own[0], own[1]) << "the test shows nothing";
}

}  // namespace
}  // namespace hone::testing
