#include "hone/formats/coded_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/kernels/scratch.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

std::vector<float> coded(const std::string& text, const std::vector<float>& x, const Sizes& sizes,
                         const std::vector<Tensor>& state) {
  const Format format = format_of(text);
  const kernels::Int8Shape shape = coded_rows_shape(format, sizes);
  kernels::Scratch memory;
  const kernels::Int8Rows rows =
      kernels::int8_rows(shape, memory.floats(kernels::int8_rows_bytes(shape) / sizeof(float)));
  encode_rows_reference({format, sizes, x, state}, rows);
  std::vector<float> values(x.size());
  decode_rows(rows, values);
  return values;
}

TEST(CodedRows, HaveTheValuesOfTheirFormat) {
  for (const char* format :
       {"mxint(bits=8,block=32)", "mxint(bits=4,block=16,scale=ceil)", "mxint(bits=8,block=64)",
        "mxfp(element=e2m1,block=32)", "int(bits=8,per=token)", "int(bits=3,per=token)",
        "int(bits=8,scale=static)"}) {
    for (const std::int64_t columns : {20, 96, 100}) {
      SCOPED_TRACE(fmt::format("{} of {} columns", format, columns));
      const Sizes sizes = {2, 7, columns};
      const auto x = finite_values(static_cast<std::size_t>(14 * columns));
      const auto state = calibrated_state(format, x, sizes);
      const auto expected = by_reference(format, x, sizes, state);
      const auto got = coded(format, x, sizes, state);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(got[i], expected[i])) << i;
    }
  }
}

TEST(CodedRows, AreNaNWhereARowHasNoCodes) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(96, 1.0f);
  x[40] = inf;
  const auto blocks = coded("mxint(bits=8,block=32)", x, {3, 32}, {});
  x[40] = std::nanf("");
  for (const auto& values : {blocks, coded("int(bits=8,per=token)", x, {3, 32}, {})})
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(std::isnan(values[i]), i / 32 == 1);
}

TEST(CodedRows, AreOfWholeNumbersWithScalesThatProductsTake) {
  const auto refusal = [](const char* format, const Sizes& sizes) {
    return message_of([&] { coded_rows_shape(format_of(format), sizes); });
  };
  for (const char* format :
       {"int(bits=8,scale=dynamic)", "mxint(bits=12)", "mxint(block=20)", "mxint(block=512)",
        "mxfp(element=e4m3)", "int(bits=8,range=affine)", "int(bits=8,per=row,scale=static)",
        "bf16", "log(width=8,exponent_bias=7)"})
    EXPECT_TRUE(refusal(format, {3, 1024}).ends_with("or powers of two per block of 16 to 256"))
        << format << ": " << refusal(format, {3, 1024});
  EXPECT_EQ(refusal("int(bits=8,per=token)", {1, (1 << 17) + 1}),
            "rows of codes have up to 131072 columns, got 131073");
}

}  // namespace
}  // namespace hone::testing
