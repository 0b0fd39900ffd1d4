#include "hone/analysis/graph_difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

constexpr const char* kBase =
    "%x = input : f32[B, 4]\n"
    "%a = relu(%x) : f32[B, 4]\n"
    "%b = tanh(%a) : f32[B, 4]\n"
    "output y = %b\n";

std::vector<std::string> lines(const GraphDifference& found) {
  std::vector<std::string> text;
  for (const NodeDifference& one : found.differences)
    text.push_back(fmt::format("{} {} [{}|{}] {}", to_string(one.kind), one.what, one.name,
                               one.second_name, one.detail));
  return text;
}

using Lines = std::vector<std::string>;

TEST(GraphDifference, OfEqualGraphsIsEmpty) {
  const GraphDifference found = difference(parse(kBase), parse(kBase));
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(found.equal_operations, 2);
}

TEST(GraphDifference, ARenamedNodeIsNoDifference) {
  const Graph renamed = parse(
      "%x = input : f32[B, 4]\n"
      "%first = relu(%x) : f32[B, 4]\n"
      "%second = tanh(%first) : f32[B, 4]\n"
      "output y = %second\n");
  EXPECT_EQ(lines(difference(parse(kBase), renamed)), Lines{});
}

TEST(GraphDifference, NamesWhatIsAddedAndWhoReadsIt) {
  const Graph longer = parse(
      "%x = input : f32[B, 4]\n"
      "%a = relu(%x) : f32[B, 4]\n"
      "%between = relu(%a) : f32[B, 4]\n"
      "%b = tanh(%between) : f32[B, 4]\n"
      "output y = %b\n"
      "output z = %a\n");
  EXPECT_EQ(lines(difference(parse(kBase), longer)),
            (Lines{"changed tanh [b|b] reads a -> between", "only in B relu [|between] ",
                   "only in B output [|z] "}));
  const GraphDifference back = difference(longer, parse(kBase));
  EXPECT_EQ(lines(back),
            (Lines{"only in A relu [between|] ", "changed tanh [b|b] reads between -> a",
                   "only in A output [z|] "}));
  EXPECT_EQ(back.count(DifferenceKind::only_in_first), 1);
  EXPECT_EQ(back.count(DifferenceKind::changed), 1);
  EXPECT_EQ(back.equal_operations, 1);
}

TEST(GraphDifference, TellsAttributesAndTypes) {
  const auto with = [](const std::string& p, int width) {
    return parse(
        fmt::format("%x = input : f32[B, {1}]\n"
                    "%key = input : i64[]\n"
                    "%d = dropout(%x, %key) {{p={0}, stream=1, limits=[]}} : f32[B, {1}]\n"
                    "output y = %d\n",
                    p, width));
  };
  EXPECT_EQ(lines(difference(with("0.1", 4), with("0.2", 4))),
            Lines{"changed dropout [d|d] p 0.1 -> 0.2"});
  EXPECT_EQ(lines(difference(with("0.1", 4), with("0.1", 8))),
            (Lines{"changed input [x|x] type f32[B, 4] -> f32[B, 8]",
                   "changed dropout [d|d] type f32[B, 4] -> f32[B, 8]"}));
}

TEST(GraphDifference, OneNameOfTwoOperationsIsTwoNodes) {
  const Graph other = parse(
      "%x = input : f32[B, 4]\n"
      "%a = tanh(%x) : f32[B, 4]\n"
      "%b = tanh(%a) : f32[B, 4]\n"
      "output y = %b\n");
  EXPECT_EQ(
      lines(difference(parse(kBase), other)),
      (Lines{"only in A relu [a|] ", "changed tanh [b|b] reads a -> a", "only in B tanh [|a] "}));
}

TEST(GraphDifference, OfParametersCountsBitsAndTheLargest) {
  const auto store = [](std::vector<float> values) {
    ParameterStore store;
    Tensor tensor = Tensor::empty(DType::f32, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, tensor.values<float>().begin());
    store.set("w", tensor);
    return store;
  };
  EXPECT_TRUE(difference(store({1, 2}), store({1, 2})).differing.empty());
  const ParameterDifferences found = difference(store({1, 2, 3}), store({1, 2.5, 1}));
  ASSERT_EQ(found.differing.size(), 1U);
  EXPECT_EQ(found.differing[0].differing, 2);
  EXPECT_EQ(found.differing[0].largest, 2);
  // Tensors of different shapes are not compared, and a NaN is never hidden by a number.
  EXPECT_EQ(difference(store({1, 2}), store({1, 2, 3})).compared, 0);
  EXPECT_TRUE(std::isnan(difference(store({NAN, 2}), store({1, 1})).differing[0].largest));
}

}  // namespace
}  // namespace hone::testing
