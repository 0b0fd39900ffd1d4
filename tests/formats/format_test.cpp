#include "hone/formats/format.h"

#include <gtest/gtest.h>

#include "tests/formats/formats_testing.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

std::string canonical(std::string_view text) { return to_string(parse_format(text, formats())); }
std::string refusal(std::string_view text) {
  return message_of([&] { parse_format(text, formats()); });
}

TEST(Format, PrintsEveryParameterInTheOrderOfTheRecord) {
  EXPECT_EQ(canonical("integer"), "integer(width=8,frac=auto)");
  EXPECT_EQ(canonical("integer()"), "integer(width=8,frac=auto)");
  EXPECT_EQ(canonical(" integer ( frac = -2 , width=6 ) "), "integer(width=6,frac=-2)");
}

TEST(Format, ReadsWhatItPrints) {
  for (const auto& [name, def] : formats()) {
    const Format format = parse_format(name, formats());
    EXPECT_EQ(parse_format(to_string(format), formats()), format) << name;
  }
  const Format format = parse_format("integer(width=5,frac=-7)", formats());
  EXPECT_EQ(parse_format(to_string(format), formats()), format);
}

// Requirements for every format.
TEST(Format, IsCompleteInEveryRow) {
  const std::vector<float> x = {0.1f, -0.2f, 0.3f, 0.4f, -0.5f, 0.6f};
  for (const auto& [name, def] : formats()) {
    SCOPED_TRACE(name);
    const Format format = format_of(name);
    EXPECT_EQ(def.name, name);
    EXPECT_FALSE(def.summary.empty());
    int bits = 0;
    for (const CodeField& field : def.fields(format)) bits += field.bits;
    EXPECT_EQ(bits, def.layout(format, {2, 3}).element_bits);
    EXPECT_EQ(def.calibrate == nullptr, def.state == nullptr);
    EXPECT_EQ(def.backward == nullptr, def.gradient_rule == nullptr);
    for (const FormatParameterDef& parameter : def.parameters) {
      EXPECT_FALSE(parameter.summary.empty()) << parameter.name;
      EXPECT_TRUE(!parameter.words.empty() || parameter.minimum < parameter.maximum)
          << parameter.name;
    }
    check_packs(name, x, {2, 3});
  }
}

TEST(Format, SpellsOutTheWordThatSaysWhatItIs) {
  EXPECT_EQ(canonical("mxfp"), "mxfp(element=e4m3,block=32,axis=-1)");
}

TEST(Format, FindsParametersByName) {
  const Format format = parse_format("integer(width=5,frac=3)", formats());
  EXPECT_EQ(format["width"], 5);
  EXPECT_EQ(format["frac"], 3);
  EXPECT_EQ(parse_format("integer", formats())["frac"], kAuto);
}

TEST(Format, NamesTheNearestKnownWord) {
  EXPECT_EQ(refusal("int8"), "unknown format 'int8'; did you mean 'int(bits=8)'?");
  EXPECT_EQ(refusal("integer16"), "unknown format 'integer16'; did you mean 'integer(width=16)'?");
  EXPECT_EQ(refusal("intger(width=8)"), "unknown format 'intger'; did you mean 'integer'?");
  EXPECT_EQ(refusal("integer(wdth=8)"),
            "format integer has no parameter 'wdth'; did you mean 'width'?");
  EXPECT_EQ(refusal("bf16(x=1)"), "format bf16 has no parameter 'x'; it has no parameters");
}

TEST(Format, ListsWhatThereIsWhereNoWordIsNear) {
  EXPECT_EQ(refusal("integer(group=8)"),
            "format integer has no parameter 'group'; there are width, frac, rounding, sign");
  const std::string unknown = refusal("bfloat");
  EXPECT_TRUE(unknown.starts_with("unknown format 'bfloat'; there are ")) << unknown;
  EXPECT_NE(unknown.find(", integer, "), std::string::npos) << unknown;
}

TEST(Format, RefusesMalformedText) {
  EXPECT_EQ(refusal("integer(width=8"),
            "format 'integer(width=8': expected name(parameter=value,…), the closing parenthesis "
            "is missing");
  EXPECT_EQ(refusal("integer(8)"), "format 'integer(8)': expected parameter=value, got '8'");
  EXPECT_EQ(refusal("integer(width=eight)"),
            "integer(width=eight): width='eight' is not a whole number");
  EXPECT_EQ(refusal("integer(width=auto)"),
            "integer(width=auto): width='auto' is not a whole number");
  EXPECT_EQ(refusal("integer(frac=4.5)"),
            "integer(frac=4.5): frac='4.5' is not a whole number (or auto)");
  EXPECT_EQ(refusal("integer(width=99999999999999999999)"),
            "integer(width=99999999999999999999): width='99999999999999999999' is not a "
            "whole number");
  EXPECT_EQ(refusal("integer(width=8,width=4)"),
            "format 'integer(width=8,width=4)': width is given twice");
}

TEST(Format, RefusesParametersOutsideTheirRange) {
  EXPECT_EQ(refusal("integer(width=33)"),
            "integer(width=33): width=33 is outside 1 … 32 (total bits)");
  EXPECT_EQ(refusal("integer(frac=-65)"),
            "integer(frac=-65): frac=-65 is outside -64 … 64 (bits after the binary point)");
}

TEST(Format, LeavesWordsOutThatAreTheDefault) {
  EXPECT_EQ(canonical("integer(frac=2,rounding=nearest)"), "integer(width=8,frac=2)");
  EXPECT_EQ(canonical("integer(frac=2,rounding=floor)"), "integer(width=8,frac=2,rounding=floor)");
  EXPECT_EQ(refusal("integer(rounding=flor)"),
            "integer(rounding=flor): rounding='flor' is not one of nearest, floor; did you mean "
            "'floor'?");
}

TEST(Format, SeesATensorAsRowsAlongItsLastAxis) {
  const auto expect_rows = [](const Sizes& sizes, std::int64_t count, std::int64_t columns) {
    EXPECT_EQ(rows_of(sizes).count, count);
    EXPECT_EQ(rows_of(sizes).columns, columns);
  };
  expect_rows({}, 1, 1);
  expect_rows({5}, 1, 5);
  expect_rows({2, 3, 4}, 6, 4);
  expect_rows({2, 0}, 0, 0);
}

}  // namespace
}  // namespace hone::testing
