#include "hone/passes/merge_equal.h"

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

TEST(MergeEqual, LetsOneOperationStandForAllThatComputeTheSame) {
  expect_after(R"(%x = input : f32[B, 32]
%w = parameter weight trainable : f32[32, 32]
%q = quantize(%x) {format=mxint(bits=8,block=32,axis=-1)} : f32[B, 32]
%y = linear(%q, %w) : f32[B, 32]
%r = quantize(%x) {format=mxint(bits=8,block=32,axis=-1)} : f32[B, 32]
%z = linear(%r, %w) : f32[B, 32]
%s = quantize(%x) {format=mxint(bits=4,block=32,axis=-1)} : f32[B, 32]
%u = linear(%s, %w) : f32[B, 32]
%v = add(%u, %r) : f32[B, 32]
output y = %y
output z = %z
output v = %v
)",
               merge_equal, R"(%x = input : f32[B, 32]
%w = parameter weight trainable : f32[32, 32]
%q = quantize(%x) {format=mxint(bits=8,block=32,axis=-1)} : f32[B, 32]
%y = linear(%q, %w) : f32[B, 32]
%s = quantize(%x) {format=mxint(bits=4,block=32,axis=-1)} : f32[B, 32]
%u = linear(%s, %w) : f32[B, 32]
%v = add(%u, %q) : f32[B, 32]
output y = %y
output z = %y
output v = %v
)");
}

TEST(MergeEqual, LeavesWhatReadsOtherValuesOrDrawsOtherWords) {
  constexpr std::string_view kText = R"(%x = input : f32[B, 4]
%key = input : i64[]
%a = relu(%x) : f32[B, 4]
%b = dropout(%a, %key) {p=0.5, stream=1, limits=[]} : f32[B, 4]
%c = dropout(%a, %key) {p=0.5, stream=2, limits=[]} : f32[B, 4]
%d = add(%a, %b) : f32[B, 4]
%e = add(%a, %c) : f32[B, 4]
output d = %d
output e = %e
)";
  Graph graph = parse(kText);
  EXPECT_FALSE(merge_equal(graph));
}

TEST(MergeEqual, LeavesUpdatesAlone) {
  constexpr std::string_view text = R"(%g = input : f32[2]
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%p = parameter weight trainable : f32[2]
%m = parameter weight frozen : f32[2]
%v = parameter weight frozen : f32[2]
%a = adamw(%p, %g, %m, %v, %norm, %rate, %step) {beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, max_grad_norm=1.0} : f32[2], f32[2], f32[2]
%b = adamw(%p, %g, %m, %v, %norm, %rate, %step) {beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, max_grad_norm=1.0} : f32[2], f32[2], f32[2]
output a = %a
output b = %b
)";
  expect_after(text, merge_equal, text);
}

TEST(MergeEqualStates, TakesStatesOfTheSameBitsForOne) {
  ParameterStore parameters;
  for (const auto& [name, value] : {std::pair("s", 0.5f), {"t", 0.5f}, {"u", 0.25f}, {"w", 0.5f}})
    parameters.set(name, Tensor::scalar(value));
  expect_after(R"(%x = input : f32[B, 2]
%s = parameter format_state frozen : f32[]
%t = parameter format_state frozen : f32[]
%u = parameter format_state frozen : f32[]
%w = parameter weight frozen : f32[]
%a = quantize(%x, %s) {format=int(bits=8,scale=static)} : f32[B, 2]
%b = quantize(%x, %t) {format=int(bits=8,scale=static)} : f32[B, 2]
%c = quantize(%x, %u) {format=int(bits=8,scale=static)} : f32[B, 2]
%d = mul(%a, %w) : f32[B, 2]
output b = %b
output c = %c
output d = %d
)",
               [&](Graph& graph) { return merge_equal_states(graph, parameters); },
               R"(%x = input : f32[B, 2]
%s = parameter format_state frozen : f32[]
%u = parameter format_state frozen : f32[]
%w = parameter weight frozen : f32[]
%a = quantize(%x, %s) {format=int(bits=8,per=tensor,scale=static)} : f32[B, 2]
%c = quantize(%x, %u) {format=int(bits=8,per=tensor,scale=static)} : f32[B, 2]
%d = mul(%a, %w) : f32[B, 2]
output b = %a
output c = %c
output d = %d
)");
}

}  // namespace
}  // namespace hone::testing
