#include "hone/data/label_map.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(LabelMap, IsReadFromPairsOrAnObject) {
  EXPECT_TRUE(parse_label_map("").empty());
  EXPECT_TRUE(parse_label_map(" ids ").numbers);
  EXPECT_EQ(parse_label_map("neg = NEGATIVE, 1=POSITIVE=x").names,
            (Pairs{{"neg", "NEGATIVE"}, {"1", "POSITIVE=x"}}));
  EXPECT_EQ(parse_label_map(R"({"a, b": "c", "d": 1})").names, (Pairs{{"a, b", "c"}, {"d", "1"}}));
}

TEST(LabelMap, KeepsOtherLabels) {
  const LabelMap map = parse_label_map("a=x");
  EXPECT_EQ(map("a"), "x");
  EXPECT_EQ(map("b"), "b");
}

TEST(LabelMap, RefusesWhatIsNone) {
  for (const char* other : {"id", "a=", "=x", "a=x,b", "{\"a\": [1]}", "{a", "{}x"})
    expect_user_error("`label_map`: expected LABEL=CLASS pairs", [&] { parse_label_map(other); });
  expect_user_error("the label 'a' is mapped twice", [] { parse_label_map("a=x,b=y,a=z"); });
}

}  // namespace
}  // namespace hone
