#include "hone/jobs/choice.h"

#include <gtest/gtest.h>

#include "hone/jobs/compress.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

constexpr std::int64_t kBatchSize = 8;

Choice choice_on(const EncodedSplits& data) {
  const Model baseline = tiny_model();
  Model candidate = baseline;
  put_quantizers(candidate, "integer(width=8,frac=4)");
  Choice choice = begin_choice(baseline, data, kBatchSize, quiet_context());
  report_chosen(choice, {{"int8", &candidate}}, baseline, data, kBatchSize, quiet_context());
  return choice;
}

TEST(Choice, IsMadeOnValidationAndReportedOnTest) {
  const Choice choice = choice_on(choice_splits());
  EXPECT_EQ(choice.made_on(), "validation, n = 40");
  EXPECT_EQ(choice.reported_on(), "test, n = 24");
  EXPECT_EQ(choice.warning, "");
  ASSERT_EQ(choice.reported.size(), 2u);
  EXPECT_TRUE(chosen_evaluations(choice, {}).empty()) << "nothing was chosen";
  const auto named = chosen_evaluations(choice, {&choice.reported[1]});
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].name, "fp32, test");
  EXPECT_EQ(named[1].name, "int8, test");
  EXPECT_EQ(named[1].evaluation.examples, 24);
  EXPECT_FALSE(choice.reported[0].comparison);
  EXPECT_EQ(choice.reported[1].comparison->change.examples, 24);
  const std::vector<std::string> lines = reported_findings(choice);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("int8, test, n = 24: accuracy changed by ")) << lines[0];
}

TEST(Choice, SaysWhereItsFiguresFlatter) {
  EncodedSplits data = choice_splits();
  data.test = data.validation;
  data.measured.facts.split = "validation";
  const Choice own = choice_on(data);
  EXPECT_TRUE(own.reported.empty());
  EXPECT_NE(own.warning.find("on the split that is reported (validation)"), std::string::npos);
  data.protocol = Protocol::original;
  data.measured.facts.split = "test";
  const Choice original = choice_on(data);
  EXPECT_EQ(original.split, "test");
  EXPECT_NE(original.warning.find("protocol original: test"), std::string::npos);
  EXPECT_EQ(reported_findings(original), std::vector<std::string>{original.warning});
}

TEST(Choice, OfNothingFlattersNothing) {
  EncodedSplits data = choice_splits();
  data.measured.facts.split = "validation";
  Choice choice = begin_choice(tiny_model(), data, kBatchSize, quiet_context());
  report_chosen(choice, {}, tiny_model(), data, kBatchSize, quiet_context());
  EXPECT_EQ(choice.warning, "");
  EXPECT_EQ(std::get<Paragraph>(reported_block(choice)).text, "Nothing was chosen.");
}

TEST(Choice, NeedsAPartToBeMadeOn) {
  expect_user_error("there is no validation split to choose on",
                    [] { choice_split(tiny_splits()); });
}

}  // namespace
}  // namespace hone::testing
