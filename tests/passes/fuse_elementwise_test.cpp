#include "hone/passes/fuse_elementwise.h"

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

void expect_one(std::string_view before, std::string_view after) {
  expect_after(
      before, [](Graph& graph) { return fuse_elementwise(graph); }, after);
}

TEST(FuseElementwise, TakesChainsAndWhatTheyStretch) {
  expect_one(R"(%x = input : f32[B, 3]
%bias = input : f32[3]
%kept = input : bool[B, 3]
%sum = add(%x, %bias) : f32[B, 3]
%act = relu(%sum) : f32[B, 3]
%y = mask(%act, %kept) : f32[B, 3]
output y = %y
)",
             R"graph(%x = input : f32[B, 3]
%bias = input : f32[3]
%kept = input : bool[B, 3]
%y.fused = elementwise(%x, %bias, %kept) {formula="t0 = x0 + x1; select(0 < x2, select(t0 < 0, 0, t0), 0)"} : f32[B, 3]
output y = %y.fused
)graph");
}

// A value that another operation reads becomes a result too, before the last one.
TEST(FuseElementwise, KeepsWhatOthersRead) {
  expect_one(R"(%x = input : f32[B, 3]
%w = input : f32[3, 3]
%sum = add(%x, %x) : f32[B, 3]
%half = scale(%sum) {factor=0.5} : f32[B, 3]
%z = linear(%sum, %w) : f32[B, 3]
%y = tanh(%half) : f32[B, 3]
output y = %y
output z = %z
)",
             R"graph(%x = input : f32[B, 3]
%w = input : f32[3, 3]
%y.fused = elementwise(%x) {formula="t0 = x0 + x0; t0; tanh(0.5 * t0)"} : f32[B, 3], f32[B, 3]
%z = linear(%y.fused, %w) : f32[B, 3]
output y = %y.fused:1
output z = %z
)graph");
}

// The product needs the first sum, and the second sum needs the product, so they cannot be fused.
TEST(FuseElementwise, LeavesWhatSomethingStandsBetween) {
  const char* const text = R"(%x = input : f32[B, 3]
%w = input : f32[3, 3]
%sum = add(%x, %x) : f32[B, 3]
%z = linear(%sum, %w) : f32[B, 3]
%y = add(%sum, %z) : f32[B, 3]
output y = %y
)";
  expect_one(text, text);
}

TEST(FuseElementwise, LeavesOtherShapesAndTypesAlone) {
  const char* const text = R"(%x = input : f32[B, 3]
%row = input : f32[3]
%h = input : bf16[B, 3]
%twice = add(%row, %row) : f32[3]
%y = add(%x, %twice) : f32[B, 3]
%a = relu(%h) : bf16[B, 3]
%b = tanh(%a) : bf16[B, 3]
output y = %y
output b = %b
)";
  expect_one(text, text);
}

// The first result may reuse the memory of the first operand. So the first operand is one that nothing else reads.
TEST(FuseElementwise, PutsInFrontWhatMayBeOverwritten) {
  expect_one(R"(%x = input : f32[B, 3]
%w = input : f32[3, 3]
%z = linear(%x, %w) : f32[B, 3]
%sum = add(%x, %z) : f32[B, 3]
%y = relu(%sum) : f32[B, 3]
output y = %y
)",
             R"graph(%x = input : f32[B, 3]
%w = input : f32[3, 3]
%z = linear(%x, %w) : f32[B, 3]
%y.fused = elementwise(%z, %x) {formula="t0 = x1 + x0; select(t0 < 0, 0, t0)"} : f32[B, 3]
output y = %y.fused
)graph");
}

// A fused formula is fused again with the operations after it.
TEST(FuseElementwise, TakesFormulasIn) {
  expect_one(R"(%x = input : f32[B]
%p = elementwise(%x) {formula="2 * x0; x0 * x0"} : f32[B], f32[B]
%y = add(%p:0, %p:1) : f32[B]
output y = %y
)",
             R"(%x = input : f32[B]
%y.fused = elementwise(%x) {formula="2 * x0 + x0 * x0"} : f32[B]
output y = %y.fused
)");
}

}  // namespace
}  // namespace hone::testing
