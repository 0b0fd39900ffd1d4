#include "hone/frontends/huggingface/other_programs.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

LayerFormats formats_of(std::initializer_list<Operand> operands) {
  static const FormatTable table = builtin_formats();
  LayerFormats formats;
  for (const Operand operand : operands) formats[operand] = parse_format("bf16", table);
  return formats;
}

TEST(NoticeForOtherPrograms, IsOfQuantizersThatTheWeightsDoNotCarry) {
  const LayerFormats weights = formats_of({Operand::weight, Operand::bias});
  EXPECT_EQ(notice_for_other_programs({}), "");
  EXPECT_EQ(notice_for_other_programs({{"a", weights}, {"b", weights}}), "");
  for (const Operand operand : {Operand::input, Operand::output})
    EXPECT_NE(notice_for_other_programs({{"a", weights}, {"b", formats_of({operand})}})
                  .find("transformers"),
              std::string::npos);
}

}  // namespace
}  // namespace hone
