#include "hone/app/class_table.h"

#include <gtest/gtest.h>

#include "hone/base/text.h"

namespace hone {
namespace {

TEST(ClassText, FitsTheTerminal) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const Evaluation evaluation = evaluate({logits, 2}, labels);
  for (const std::size_t columns : {std::size_t{40}, std::size_t{80}}) {
    const std::string text =
        class_text({{"test", evaluation}}, {"negative", "positive"}, {.columns = columns});
    EXPECT_NE(text.find("taken for"), std::string::npos) << text;
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(display_width(line), columns) << text;
  }
}

}  // namespace
}  // namespace hone
