#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/analysis/cost.h"
#include "hone/base/random.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// One text, two queries, two keys, one head.
constexpr std::string_view kOneHead = R"(%q = input : f32[1, 2, 1, 2]
%k = input : f32[1, 2, 1, 2]
%v = input : f32[1, 2, 1, 1]
%mask = input : f32[1, 1, 1, 2]
%y = attention(%q, %k, %v, %mask) {scale=0.5} : f32[1, 2, 1, 1]
output y = %y)";

TEST(Attention, WeighsValuesByTheSoftmaxOfScaledScores) {
  // Scores of the first query are 0.5 (2, 0) 2 ln 3 = (ln 9, 0), with weights 0.9 and 0.1. Those of the second are
  // equal.
  const float ln3 = std::log(3.0f);
  const std::vector<float> y =
      evaluate(kOneHead, {{"q", Tensor::of<float>({1, 2, 1, 2}, {2 * ln3, 0, 0, 0})},
                          {"k", Tensor::of<float>({1, 2, 1, 2}, {2, 5, 0, 7})},
                          {"v", Tensor::of<float>({1, 2, 1, 1}, {10, 20})},
                          {"mask", Tensor::of<float>({1, 1, 1, 2}, {0, 0})}});
  EXPECT_NEAR(y[0], 11, 1e-5);
  EXPECT_EQ(y[1], 15);
}

TEST(Attention, LeavesOutKeysThatTheMaskKeepsOut) {
  const float lowest = std::numeric_limits<float>::lowest();
  const std::vector<float> y =
      evaluate(kOneHead, {{"q", Tensor::of<float>({1, 2, 1, 2}, {1, 2, 3, 4})},
                          {"k", Tensor::of<float>({1, 2, 1, 2}, {5, 6, 7, 8})},
                          {"v", Tensor::of<float>({1, 2, 1, 1}, {10, 20})},
                          {"mask", Tensor::of<float>({1, 1, 1, 2}, {0, lowest})}});
  EXPECT_EQ(y, (std::vector<float>{10, 10}));
}

// Each head has its own keys, values and keys differ in size, and all texts share one mask.
TEST(Attention, TreatsHeadsAndTextsApart) {
  const std::vector<float> y = evaluate(
      R"(%q = input : f32[2, 1, 2, 1]
%k = input : f32[2, 2, 2, 1]
%v = input : f32[2, 2, 2, 2]
%mask = input : f32[1, 1, 1, 2]
%y = attention(%q, %k, %v, %mask) {scale=1.0} : f32[2, 1, 2, 2]
output y = %y)",
      {{"q", Tensor::of<float>({2, 1, 2, 1}, {1, 1, 1, 1})},
       {"k", Tensor::of<float>({2, 2, 2, 1}, {99, 0, 0, 99, 0, 99, 99, 0})},
       {"v",
        Tensor::of<float>({2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})},
       {"mask", Tensor::of<float>({1, 1, 1, 2}, {0, 0})}});
  const std::vector<float> expected = {1, 2, 7, 8, 13, 14, 11, 12};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
}

// Equals the separate steps, with the same weights dropped for any padding.
TEST(Attention, DropsTheWeightsThatADropoutBehindTheSoftmaxWould) {
  constexpr std::string_view inputs = R"(%q = input : f32[2, 3, 2, 2]
%k = input : f32[2, 4, 2, 2]
%v = input : f32[2, 4, 2, 3]
%mask = input : f32[2, 1, 1, 4]
%key = input : i64[]
)";
  const std::string
      steps = fmt::format("{}{}", inputs,
                          R"(%query = transpose(%q) {axes=[0, 2, 1, 3]} : f32[2, 2, 3, 2]
%keys = transpose(%k) {axes=[0, 2, 3, 1]} : f32[2, 2, 2, 4]
%values = transpose(%v) {axes=[0, 2, 1, 3]} : f32[2, 2, 4, 3]
%product = matmul(%query, %keys) : f32[2, 2, 3, 4]
%scaled = scale(%product) {factor=0.7} : f32[2, 2, 3, 4]
%masked = add(%scaled, %mask) : f32[2, 2, 3, 4]
%weights = softmax(%masked) : f32[2, 2, 3, 4]
%left = dropout(%weights, %key) {p=0.5, stream=7, limits=[2, 2, 9, 9]} : f32[2, 2, 3, 4]
%context = matmul(%left, %values) : f32[2, 2, 3, 3]
%y = transpose(%context) {axes=[0, 2, 1, 3]} : f32[2, 3, 2, 3]
output y = %y
)"),
      fused = fmt::format(
          "{}{}", inputs,
          R"(%y = attention(%q, %k, %v, %key, %mask) {scale=0.7, p=0.5, stream=7, limits=[2, 2, 9, 9]} : f32[2, 3, 2, 3]
output y = %y
)");
  NamedTensors values = {{"key", Tensor::scalar<std::int64_t>(5)}};
  RandomSequence random(1, 0);
  const Graph graph = parse(steps);
  for (const Node* input : graph.of_kind(NodeKind::input)) {
    if (input->name() == "key") continue;
    const Sizes sizes = resolve(input->types()[0].shape, {});
    std::vector<float> drawn(static_cast<std::size_t>(element_count(sizes)));
    for (float& value : drawn) value = static_cast<float>(random.normal());
    values.emplace(input->name(), Tensor::of<float>(sizes, drawn));
  }
  const std::vector<float> expected = evaluate(steps, values), y = evaluate(fused, values);
  ASSERT_EQ(y.size(), expected.size());
  EXPECT_NE(y, evaluate(fused, [&] {
              NamedTensors other = values;
              other.at("key") = Tensor::scalar<std::int64_t>(6);
              return other;
            }()));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
}

TEST(Attention, RefusesOperandsThatDoNotFit) {
  const std::string q = "f32[B, S, 3, 4]", k = "f32[B, T, 3, 4]", v = "f32[B, T, 3, 5]";
  const auto refused = [](const std::vector<std::string>& types) {
    return refusal("attention", types, "scale=1.0");
  };
  EXPECT_EQ(refused({q, k, v}), "no error");
  EXPECT_EQ(refused({q, k, v, "f32[B, 1, 1, T]"}), "no error");
  EXPECT_EQ(refused({q, k, v, "f32[1, 1, 1, T]"}), "no error");
  EXPECT_EQ(refusal("attention", {q, k, v}), "needs the attribute 'scale'");
  EXPECT_EQ(refusal("attention", {q, k, v}, "scale=1"), "scale must be a real number");
  EXPECT_EQ(refused({"f32[B, S, 12]", k, v}), "query must have 4 dimensions, got f32[B, S, 12]");
  EXPECT_EQ(refused({q, "i64[B, T, 3, 4]", v}), "key must be f32, got i64[B, T, 3, 4]");
  EXPECT_EQ(refused({q, "f32[2, T, 3, 4]", v}), "texts of the key: expected B, got 2");
  EXPECT_EQ(refused({q, "f32[B, T, 2, 4]", v}), "heads of the key: expected 3, got 2");
  EXPECT_EQ(refused({q, "f32[B, T, 3, 5]", v}), "head size of the key: expected 4, got 5");
  EXPECT_EQ(refused({q, k, "f32[2, T, 3, 5]"}), "texts of the value: expected B, got 2");
  EXPECT_EQ(refused({q, k, "f32[B, S, 3, 5]"}), "tokens of the value: expected T, got S");
  EXPECT_EQ(refused({q, k, "f32[B, T, 2, 5]"}), "heads of the value: expected 3, got 2");
  EXPECT_EQ(refused({q, k, v, "f32[2, 1, 1, T]"}), "texts of the mask: expected B, got 2");
  EXPECT_EQ(refused({q, k, v, "f32[B, 3, 1, T]"}), "heads of the mask: expected 1, got 3");
  EXPECT_EQ(refused({q, k, v, "f32[B, 1, S, T]"}), "queries of the mask: expected 1, got S");
  EXPECT_EQ(refused({q, k, v, "f32[B, 1, 1, S]"}), "tokens of the mask: expected T, got S");
  EXPECT_EQ(refusal("attention", {q, k, v, "i64[]"}, "scale=1.0, p=0.5"), "no error");
  EXPECT_EQ(refusal("attention", {q, k, v, "f32[B, 1, 1, T]"}, "scale=1.0, p=0.5"),
            "key must be i64, got f32[B, 1, 1, T]");
  EXPECT_EQ(refusal("attention", {q, k, v, "i64[]"}, "scale=1.0, p=1.5"),
            "p must be from 0 to 1, got 1.5");
  EXPECT_EQ(refusal("attention", {q, k, v}, "scale=1.0, p=0.5"),
            "takes query, key, value, random_key, mask? inputs, got 3");
}

// Each text gives the same result as alone, at any position.
TEST(Attention, TreatsTextsOneBehindTheOtherApart) {
  const std::vector<float> y = evaluate(
      R"(%x = input : f32[1, 3, 1, 1]
%v = input : f32[1, 3, 1, 1]
%begins = input : i64[2]
%lengths = input : i64[2]
%y = attention(%x, %x, %v, %begins, %lengths) {scale=1.0, unpadded=true} : f32[1, 3, 1, 1]
output y = %y)",
      {{"x", Tensor::of<float>({1, 3, 1, 1}, {5, 0, 0})},
       {"v", Tensor::of<float>({1, 3, 1, 1}, {7, 10, 20})},
       {"begins", Tensor::of<std::int64_t>({2}, {0, 1})},
       {"lengths", Tensor::of<std::int64_t>({2}, {1, 2})}});
  EXPECT_EQ(y, (std::vector<float>{7, 15, 15}));
}

TEST(Attention, GivesTokensOfNoTextZero) {
  for (const Library& library : {references(), builtin_library()}) {
    const NamedTensors results = run_graph(parse(R"(%x = input : f32[1, 4, 1, 1]
%begins = input : i64[1]
%lengths = input : i64[1]
%y = attention(%x, %x, %x, %begins, %lengths) {scale=1.0, unpadded=true, rest=true} : f32[1, 4, 1, 1]
%d = attention_gradient(%x, %x, %x, %y, %begins, %lengths) {scale=1.0, unpadded=true, rest=true} : f32[1, 4, 1, 1], f32[1, 4, 1, 1], f32[1, 4, 1, 1]
output y = %y
output dv = %d:2)"),
                                           {{"x", Tensor::of<float>({1, 4, 1, 1}, {3, 3, 5, NAN})},
                                            {"begins", Tensor::of<std::int64_t>({1}, {0})},
                                            {"lengths", Tensor::of<std::int64_t>({1}, {2})}},
                                           {}, library);
    EXPECT_EQ(elements_of(results.at("y")), (std::vector<float>{3, 3, 0, 0}));
    EXPECT_EQ(elements_of(results.at("dv")), (std::vector<float>{3, 3, 0, 0}));
  }
}

// Checks the reference and the kernel, which leaves invalid inputs to the reference.
TEST(Attention, RefusesTextsThatLeaveTokensOut) {
  for (const Library& library : {references(), builtin_library()}) {
    const auto run = [&](const std::vector<std::int64_t>& begins,
                         const std::vector<std::int64_t>& lengths) {
      return run_graph(parse(R"(%x = input : f32[1, 3, 1, 1]
%begins = input : i64[2]
%lengths = input : i64[2]
%y = attention(%x, %x, %x, %begins, %lengths) {scale=1.0, unpadded=true} : f32[1, 3, 1, 1]
output y = %y)"),
                       {{"x", Tensor::of<float>({1, 3, 1, 1}, {5, 0, 0})},
                        {"begins", Tensor::of<std::int64_t>({2}, begins)},
                        {"lengths", Tensor::of<std::int64_t>({2}, lengths)}},
                       {}, library);
    };
    EXPECT_NO_THROW(run({0, 1}, {1, 2}));
    expect_user_error("text 1: 1 tokens from 2 on, of 3, do not follow the 1 before", [&] {
      run({0, 2}, {1, 1});
    });
    expect_user_error("the texts have 2 tokens, of 3", [&] { run({0, 1}, {1, 1}); });
    expect_user_error("text 1: 9 tokens", [&] { run({0, 1}, {1, 9}); });
    expect_user_error("text 1: 2 tokens from -1", [&] { run({0, -1}, {1, 2}); });
  }
}

TEST(Attention, RefusesTextsOneBehindTheOtherThatDoNotFit) {
  const std::string q = "f32[1, T, 3, 4]", v = "f32[1, T, 3, 5]", own = "f32[B, 1, 3, 4]";
  const auto refused = [](const std::vector<std::string>& types,
                          const std::string& attributes = "scale=1.0, unpadded=true") {
    return refusal("attention", types, attributes);
  };
  EXPECT_EQ(refused({q, q, v, "i64[B]", "i64[B]"}), "no error");
  EXPECT_EQ(refused({own, q, v, "i64[B]", "i64[B]"}), "no error");
  EXPECT_EQ(refused({"f32[2, 1, 3, 4]", q, v, "i64[B]", "i64[B]"}),
            "texts of the query: expected B, got 2");
  EXPECT_EQ(refused({own, own, v, "i64[B]", "i64[B]"}), "texts of the key: expected 1, got B");
  EXPECT_EQ(refused({q, q, v, "i64[B]", "i64[2]"}), "texts of the lengths: expected B, got 2");
  EXPECT_EQ(refused({q, q, v, "i64[]", "i64[B]", "i64[B]"}, "scale=1.0, unpadded=true, p=0.5"),
            "limits are needed to drop weights of texts without padding");
  EXPECT_EQ(refused({q, q, v}), "takes query, key, value, begins, lengths inputs, got 3");
}

TEST(AttentionGradient, RefusesOperandsThatDoNotFit) {
  const std::string q = "f32[B, S, 3, 4]", k = "f32[B, T, 3, 4]", v = "f32[B, T, 3, 5]",
                    dy = "f32[B, S, 3, 5]";
  const auto refused = [](const std::vector<std::string>& types,
                          const std::string& attributes = "scale=1.0") {
    return refusal("attention_gradient", types, attributes);
  };
  EXPECT_EQ(refused({q, k, v, dy}), "no error");
  EXPECT_EQ(refused({q, k, v, dy, "f32[B, 1, 1, T]"}), "no error");
  EXPECT_EQ(refused({q, k, v, dy, "i64[]", "f32[B, 1, 1, T]"}, "scale=1.0, p=0.5"), "no error");
  EXPECT_EQ(refused({q, k, v, v}), "dy: expected f32[B, S, 3, 5], got f32[B, T, 3, 5]");
  EXPECT_EQ(refused({q, "f32[2, T, 3, 4]", v, dy}), "texts of the key: expected B, got 2");
  EXPECT_EQ(refused({q, k, v}), "takes query, key, value, dy, mask? inputs, got 3");
}

TEST(Attention, CountsTheOperationsOfItsSteps) {
  const Graph fused = parse(kOneHead), steps = parse(R"(%q = input : f32[1, 1, 2, 2]
%k = input : f32[1, 1, 2, 2]
%v = input : f32[1, 1, 2, 1]
%mask = input : f32[1, 1, 1, 2]
%scores = matmul(%q, %k) : f32[1, 1, 2, 2]
%scaled = scale(%scores) {factor=0.5} : f32[1, 1, 2, 2]
%masked = add(%scaled, %mask) : f32[1, 1, 2, 2]
%weights = softmax(%masked) : f32[1, 1, 2, 2]
%y = matmul(%weights, %v) : f32[1, 1, 2, 1]
output y = %y
)");
  EXPECT_EQ(cost(fused, {}).flops, cost(steps, {}).flops);
}

}  // namespace
}  // namespace hone::testing
