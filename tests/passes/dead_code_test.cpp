#include "hone/passes/dead_code.h"

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

TEST(DeadCode, RemovesChainsAndParametersNoOutputNeeds) {
  expect_after(R"(%x = input : f32[B, 2]
%unused = input : f32[B]
%w = parameter weight trainable : f32[3, 2]
%lost = parameter weight frozen : f32[3, 2]
%y = linear(%x, %w) : f32[B, 3]
%a = linear(%x, %lost) : f32[B, 3]
%b = relu(%a) : f32[B, 3]
%c = add(%b, %y) : f32[B, 3]
output y = %y
)",
               remove_dead_code,
               R"(%x = input : f32[B, 2]
%unused = input : f32[B]
%w = parameter weight trainable : f32[3, 2]
%y = linear(%x, %w) : f32[B, 3]
output y = %y
)");
}

TEST(DeadCode, KeepsUpdatesAndWhatTheyRead) {
  constexpr std::string_view text = R"(%rate = input : f32[]
%step = input : i64[]
%p = parameter weight trainable : f32[2]
%m = parameter weight frozen : f32[2]
%v = parameter weight frozen : f32[2]
%g = relu(%p) : f32[2]
%norm = global_norm(%g) : f32[]
%new = adamw(%p, %g, %m, %v, %norm, %rate, %step) {beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, max_grad_norm=1.0} : f32[2], f32[2], f32[2]
)";
  expect_after(text, remove_dead_code, text);
}

TEST(DeadCode, KeepsANodeOfWhichOneResultIsNeeded) {
  constexpr std::string_view text = R"(%x = input : f32[B, 2]
%gamma = input : f32[2]
%d = layer_norm_gradient(%x, %gamma, %x) {eps=1e-05} : f32[B, 2], f32[2], f32[2]
output beta = %d:2
)";
  expect_after(text, remove_dead_code, text);
}

}  // namespace
}  // namespace hone::testing
