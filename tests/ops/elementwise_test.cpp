#include <gtest/gtest.h>

#include <cmath>

#include "hone/ir/print.h"
#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Elementwise, ComputesFormulasOfStretchedOperands) {
  const Graph graph = parse(R"graph(%x = input : f32[2, 3]
%bias = input : f32[3]
%kept = input : bool[2, 1]
%y = elementwise(%x, %bias, %kept) {formula="t0 = x0 + x1; t0; select(0 < x2, tanh(t0), 0)"} : f32[2, 3], f32[2, 3]
output sum = %y:0
output y = %y:1
)graph");
  const NamedTensors got = run_graph(graph, {{"x", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                                             {"bias", Tensor::of<float>({3}, {10, 20, -3})},
                                             {"kept", booleans({2, 1}, {1, 0})}});
  EXPECT_EQ(elements_of(got.at("sum")), (std::vector<float>{11, 22, 0, 14, 25, 3}));
  EXPECT_EQ(elements_of(got.at("y")),
            (std::vector<float>{static_cast<float>(std::tanh(11.0)), 1, 0, 0, 0, 0}));
}

// More elements than are computed at once.
TEST(Elementwise, ComputesManyElements) {
  Tensor x = Tensor::empty(DType::f32, {5, 1000});
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = static_cast<float>(i);
  const auto got = evaluate(
      "%x = input : f32[5, B]\n%y = elementwise(%x) {formula=\"2 * x0\"} : f32[5, B]\noutput y = "
      "%y\n",
      {{"x", x}});
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * static_cast<float>(i));
}

TEST(Elementwise, RefusesFormulasThatDoNotFit) {
  EXPECT_EQ(refusal("elementwise", {"f32[B]"}, R"(formula="x0 + x1")"),
            "formula reads x1 of 1 operands");
  EXPECT_EQ(refusal("elementwise", {"f32[B]"}, R"(formula="x0 +")"),
            "`formula`: expected a number, an operand or a function at ''");
  EXPECT_EQ(refusal("elementwise", {"f32[B]", "bf16[B]"}, R"(formula="x0")"),
            "input must be f32, got bf16[B]");
  EXPECT_EQ(refusal("elementwise", {"bool[B]"}, R"(formula="x0")"),
            "one input must be f32, bf16 or f16");
  EXPECT_EQ(refusal("elementwise", {"i64[B]"}, R"(formula="x0")"),
            "input must be f32, bf16 or f16, got i64[B]");
}

}  // namespace
}  // namespace hone::testing
