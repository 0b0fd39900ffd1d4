#include "hone/study/gates.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

// Of 400 examples of two classes, one model beside itself.
ParentJudged judged(const std::vector<const char*>& gates) {
  std::vector<float> logits;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 400; ++i) {
    classes.push_back(i % 2);
    const bool says_one = i % 10 == 0 ? i % 2 == 0 : i % 2 == 1;
    logits.insert(logits.end(), {says_one ? 0.0f : 1.0f, says_one ? 1.0f : 0.0f});
  }
  std::vector<Gate> parsed;
  for (const char* gate : gates) parsed.push_back(parse_gate(gate, {.names = {"no", "yes"}}));
  return judge_parent(parsed, {logits, 2}, {Task::single_label, classes}, /*evaluations=*/10);
}

TEST(ParentBesideItself, HasToShowThatItLosesNoMoreThanIsAllowed) {
  EXPECT_TRUE(judged({"accuracy>=-5"}).passes);
  const ParentJudged few = judged({"accuracy>=-0.5", "f1_macro>=-5"});
  EXPECT_FALSE(few.passes);
  EXPECT_EQ(few.hardest.figure, kAccuracy);
  EXPECT_GT(few.hardest.examples_needed, 400);
  EXPECT_NE(too_few_sentence(few, "validation", "10 evaluations", "`looks`")
                .find("examples for accuracy"),
            std::string::npos);
}

// It gains nothing, however many examples there are.
TEST(ParentBesideItself, NeedNotGainAnything) {
  EXPECT_TRUE(judged({"f1_macro>=0.5"}).passes);
  EXPECT_TRUE(judged({"accuracy>=0", "f1_macro>=0.5", "recall(yes)>=-20"}).passes);
  const ParentJudged few = judged({"accuracy>=-0.5", "f1_macro>=0.5"});
  EXPECT_FALSE(few.passes);
  EXPECT_EQ(few.hardest.figure, kAccuracy);
}

}  // namespace
}  // namespace hone
