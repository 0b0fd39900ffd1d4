#include "hone/passes/remove_dropout.h"

#include <fmt/core.h>

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

TEST(RemoveDropout, ReplacesEveryDropoutByItsInputAndDropsTheKey) {
  expect_after(R"(%x = input : f32[B, 4]
%key = input : i64[]
%d1 = dropout(%x, %key) {p=0.1, stream=1} : f32[B, 4]
%y = relu(%d1) : f32[B, 4]
%d2 = dropout(%y, %key) {p=0.1, stream=2} : f32[B, 4]
%d3 = dropout(%d2, %key) {p=0.1, stream=3} : f32[B, 4]
%z = add(%d3, %d1) : f32[B, 4]
output z = %z
output dropped = %d3
)",
               remove_dropout,
               R"(%x = input : f32[B, 4]
%y = relu(%x) : f32[B, 4]
%z = add(%y, %x) : f32[B, 4]
output z = %z
output dropped = %y
)");
}

TEST(RemoveDropout, KeepsAKeyThatSomethingElseReads) {
  expect_after(R"(%x = input : f32[]
%key = input : i64[]
%y = dropout(%x, %key) {p=0.1, stream=0} : f32[]
%seen = full(%key) {value=1.0, dtype="f32"} : f32[]
output y = %y
output seen = %seen
)",
               remove_dropout,
               R"(%x = input : f32[]
%key = input : i64[]
%seen = full(%key) {value=1.0, dtype="f32"} : f32[]
output y = %x
output seen = %seen
)");
  expect_after(R"(%x = input : f32[]
%key = input : i64[]
%y = dropout(%x, %key) {p=0.1, stream=0} : f32[]
output y = %y
output key = %key
)",
               remove_dropout,
               R"(%x = input : f32[]
%key = input : i64[]
output y = %x
output key = %key
)");
}

TEST(RemoveDropout, LetsAttentionKeepAllItsWeights) {
  constexpr std::string_view inputs = R"(%x = input : f32[B, S, 2, 4]
%mask = input : f32[B, 1, 1, S]
)";
  expect_after(
      fmt::format(
          "%key = input : i64[]\n{}{}", inputs,
          R"(%y = attention(%x, %x, %x, %key, %mask) {scale=0.5, p=0.1, stream=3} : f32[B, S, 2, 4]
%z = attention(%y, %y, %y) {scale=1.0} : f32[B, S, 2, 4]
output z = %z
)"),
      remove_dropout,
      fmt::format(
          "{}{}", inputs,
          R"(%y = attention(%x, %x, %x, %mask) {scale=0.5, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, S, 2, 4]
%z = attention(%y, %y, %y) {scale=1.0, p=0.0, stream=0, limits=[], unpadded=false, rest=false} : f32[B, S, 2, 4]
output z = %z
)"));
}

TEST(RemoveDropout, LeavesOtherGraphsAlone) {
  constexpr std::string_view text = R"(%x = input : f32[4]
%unused = input : i64[]
%y = relu(%x) : f32[4]
output y = %y
)";
  expect_after(text, remove_dropout, text);
}

}  // namespace
}  // namespace hone::testing
