#include "hone/metrics/task.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(Task, IsCalledAsProblemTypesAre) {
  for (const std::string& name : task_names()) EXPECT_EQ(to_string(parse_task(name)), name);
  EXPECT_EQ(parse_task("regression"), Task::regression);
  EXPECT_EQ(to_string(Task::multi_label), "multi_label_classification");
  expect_user_error(
      "expected single_label_classification, regression, multi_label_classification, "
      "got 'regresion'; did you mean 'regression'?",
      [] { parse_task("regresion"); });
}

}  // namespace
}  // namespace hone
