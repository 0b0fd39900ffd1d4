#include "hone/base/error.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(Error, CarriesContextOutermostFirst) {
  const auto inner = [] { with_context("line 3", [] { fail("expected {}, got {}", 1, 2); }); };
  EXPECT_EQ(user_error_of([&] { with_context("x.json", inner); }),
            "x.json: line 3: expected 1, got 2");
}

TEST(Error, ContextLeavesResultsAlone) {
  EXPECT_EQ(with_context("never seen", [] { return 7; }), 7);
}

TEST(Error, UserCheckThrowsOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(user_check(true, "no"));
  EXPECT_THROW(user_check(false, "no"), UserError);
}

TEST(Error, AssertionsNameFileLineAndCondition) {
  try {
    HONE_ASSERT(1 + 1 == 3, "sum of {}", "ones");
    FAIL() << "nothing thrown";
  } catch (const InternalError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("error_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("sum of ones (1 + 1 == 3 does not hold)"), std::string::npos) << message;
  }
}

TEST(Error, UsageErrorsAreUserErrors) { EXPECT_THROW(throw UsageError("unknown flag"), UserError); }

}  // namespace
}  // namespace hone
