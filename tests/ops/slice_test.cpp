#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Slice, IsAViewOfTheChosenPlaces) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = run_graph(parse(R"(%x = input : f32[2, 3]
%y = slice(%x) {axis=1, begin=1, size=[2]} : f32[2, 2]
output y = %y)"),
                             {{"x", x}})
                       .at("y");
  EXPECT_EQ(elements_of(y), (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(y.storage(), x.storage());
}

// Position ids: the first S rows of a table, for any S.
constexpr std::string_view kFirstRows = R"(%ids = input : i64[S]
%table = input : f32[4]
%rows = slice(%table) {axis=0, begin=1, size=[S]} : f32[S]
%like = full(%ids) {value=0.0, dtype="f32"} : f32[S]
%y = add(%rows, %like) : f32[S]
output y = %y)";

TEST(Slice, TakesASymbolicSize) {
  const Tensor table = Tensor::of<float>({4}, {1, 2, 3, 4});
  const auto rows = [&](std::int64_t count) {
    return evaluate(kFirstRows, {{"ids", Tensor::zeros(DType::i64, {count})}, {"table", table}});
  };
  EXPECT_EQ(rows(2), (std::vector<float>{2, 3}));
  EXPECT_EQ(rows(3), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(message_of([&] { rows(4); }),
            "while executing %rows (slice): the input needs 5 places along axis 0, there are 4");
}

TEST(Slice, GradientIsZeroOutside) {
  EXPECT_EQ(evaluate(R"(%dy = input : f32[2, 1]
%y = slice_gradient(%dy) {axis=1, begin=2, shape=[2, 3]} : f32[2, 3]
output y = %y)",
                     {{"dy", Tensor::of<float>({2, 1}, {7, 8})}}),
            (std::vector<float>{0, 0, 7, 0, 0, 8}));
}

TEST(Slice, RefusesPlacesOutsideTheInput) {
  EXPECT_EQ(refusal("slice", {"f32[4]"}, "begin=2, size=[3]"),
            "cannot take 3 elements from 2 on along axis 0 of f32[4]");
  EXPECT_EQ(refusal("slice", {"f32[4]"}, "axis=1, size=[3]"),
            "cannot slice axis 1 of f32[4] from 0");
  EXPECT_EQ(refusal("slice", {"f32[4]"}, "begin=-1, size=[3]"),
            "cannot slice axis 0 of f32[4] from -1");
  EXPECT_EQ(refusal("slice", {"f32[4]"}, "size=[-3]"), "size must be at least 0, got -3");
  EXPECT_EQ(refusal("slice", {"f32[4]"}, "size=3"), "size must be a list of one dimension");
  EXPECT_EQ(refusal("slice_gradient", {"f32[4]"}, "shape=[4, 4]"),
            "dy must have 2 dimensions, got f32[4]");
  EXPECT_EQ(refusal("slice_gradient", {"f32[4]"}, "axis=1, shape=[8]"),
            "cannot slice axis 1 of f32[8] from 0");
}

}  // namespace
}  // namespace hone::testing
