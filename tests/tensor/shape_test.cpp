#include "hone/tensor/shape.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

const Dim kBatch = Dim::of_symbol('B');
const Dim kSequence = Dim::of_symbol('S');

TEST(Sizes, CountElementsAndStrides) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 0}), 0);
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Sizes{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Sizes{});
}

TEST(Shape, PrintsNumbersAndSymbols) {
  EXPECT_EQ(to_string(Shape{kBatch, kSequence, 128}), "[B, S, 128]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Sizes{8, 128}), "[8, 128]");
  EXPECT_EQ(to_string(Sizes{}), "[]");
}

TEST(Shape, DimensionsCompareByNumberOrSymbol) {
  EXPECT_EQ(kBatch, Dim::of_symbol('B'));
  EXPECT_NE(kBatch, kSequence);
  EXPECT_NE(Dim(3), Dim(4));
}

TEST(Shape, BindsSymbolsOnceAndForAll) {
  Bindings bindings;
  bind_symbols({kBatch, kSequence}, {8, 32}, "input_ids", bindings);
  EXPECT_EQ(bindings, (Bindings{{'B', 8}, {'S', 32}}));
  bind_symbols({kBatch, 2}, {8, 2}, "labels", bindings);
  EXPECT_EQ(resolve(Shape{kSequence, 5, kBatch}, bindings), (Sizes{32, 5, 8}));
}

TEST(Shape, RefusesSizesThatDoNotFit) {
  Bindings bindings = {{'B', 8}};
  EXPECT_EQ(user_error_of([&] {
              bind_symbols({kBatch, 3}, {7, 3}, "x", bindings);
            }),
            "x: expected shape [B, 3], got [7, 3]; B is 8");
  EXPECT_EQ(user_error_of([&] {
              bind_symbols({kBatch, 3}, {8, 4}, "x", bindings);
            }),
            "x: expected shape [B, 3], got [8, 4]; B is 8");
  EXPECT_EQ(user_error_of([&] {
              bind_symbols({kBatch}, {8, 1}, "x", bindings);
            }),
            "x: expected shape [B], got [8, 1]; B is 8");
  Bindings none;
  EXPECT_EQ(user_error_of([&] {
              bind_symbols({kSequence, kSequence}, {2, 3}, "x", none);
            }),
            "x: expected shape [S, S], got [2, 3]; S is 2");
}

TEST(Shape, UnboundSymbolsAreOurFault) { EXPECT_THROW(resolve(Shape{kBatch}, {}), InternalError); }

}  // namespace
}  // namespace hone
