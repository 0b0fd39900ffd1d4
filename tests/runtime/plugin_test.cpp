#include "hone/runtime/plugin.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(LoadPlugin, LeavesTheRoundingOfTheProgramAlone) {
  const volatile float small = 1e-37f;
  const float smaller = small / 16;
  ASSERT_GT(smaller, 0.0f);
  Library library = builtin_library();
  expect_user_error("fast_math.so: adds nothing",
                    [&] { load_plugin(fs::path(HONE_PLUGINS) / "fast_math.so", library); });
  EXPECT_EQ(small / 16, smaller);
}

}  // namespace
}  // namespace hone::testing
