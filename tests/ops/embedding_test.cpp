#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Embedding, GathersRowsOfTheTable) {
  EXPECT_EQ(evaluate(R"(%ids = input : i64[B, S]
%table = input : f32[3, 2]
%y = embedding(%ids, %table) {padding=-1} : f32[B, S, 2]
output y = %y)",
                     {{"ids", Tensor::of<std::int64_t>({1, 3}, {2, 0, 2})},
                      {"table", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}),
            (std::vector<float>{5, 6, 1, 2, 5, 6}));
}

std::vector<float> table_gradient(std::int64_t padding, const std::vector<std::int64_t>& ids) {
  const std::string text = fmt::format(R"(%ids = input : i64[T]
%dy = input : f32[T, 2]
%y = embedding_gradient(%ids, %dy) {{padding={}, rows=3}} : f32[3, 2]
output y = %y)",
                                       padding);
  return evaluate(text, {{"ids", Tensor::of<std::int64_t>({3}, ids)},
                         {"dy", Tensor::of<float>({3, 2}, {1, 2, 10, 20, 100, 200})}});
}

TEST(Embedding, GradientAddsUpTheUsesOfARow) {
  EXPECT_EQ(table_gradient(-1, {2, 0, 2}), (std::vector<float>{10, 20, 0, 0, 101, 202}));
}

TEST(Embedding, GradientOfThePaddingRowIsZero) {
  EXPECT_EQ(table_gradient(2, {2, 0, 2}), (std::vector<float>{10, 20, 0, 0, 0, 0}));
}

TEST(Embedding, GradientByRowHasTheRowsThatCome) {
  const Graph graph = parse(R"(%ids = input : i64[T]
%dy = input : f32[T, 2]
%y = embedding_gradient_by_row(%ids, %dy) {padding=1, rows=7} : i64[T], f32[T, 2]
output rows = %y
output sums = %y:1)");
  const NamedTensors got =
      run_graph(graph, {{"ids", Tensor::of<std::int64_t>({4}, {6, 1, 0, 6})},
                        {"dy", Tensor::of<float>({4, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000})}});
  EXPECT_EQ(elements_of<std::int64_t>(got.at("rows")), (std::vector<std::int64_t>{6, 0, -1, -1}));
  EXPECT_EQ(elements_of(got.at("sums")), (std::vector<float>{1001, 2002, 100, 200, 0, 0, 0, 0}));
}

TEST(Embedding, RefusesIdsOutsideTheTable) {
  EXPECT_EQ(
      message_of([] {
        table_gradient(-1, {0, 3, 0});
      }),
      "while executing %y (embedding_gradient): id 3 is outside the embedding table of 3 rows");
  EXPECT_EQ(message_of([] {
              evaluate(R"(%ids = input : i64[T]
%table = input : f32[3, 2]
%y = embedding(%ids, %table) {padding=-1} : f32[T, 2]
output y = %y)",
                       {{"ids", Tensor::of<std::int64_t>({1}, {-1})},
                        {"table", Tensor::zeros(DType::f32, {3, 2})}});
            }),
            "while executing %y (embedding): id -1 is outside the embedding table of 3 rows");
}

TEST(Embedding, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("embedding", {"f32[B]", "f32[3, 2]"}), "ids must be i64, got f32[B]");
  EXPECT_EQ(refusal("embedding", {"i64[B]", "f32[6]"}), "table must have 2 dimensions, got f32[6]");
  EXPECT_EQ(refusal("embedding_gradient", {"i64[B]", "f32[B]"}, "rows=3"),
            "dy must have one row per id, got f32[B] for ids i64[B]");
  EXPECT_EQ(refusal("embedding_gradient", {"i64[B]", "f32[B, 2]"}, "rows=-3"),
            "rows must be a whole number");
}

}  // namespace
}  // namespace hone::testing
