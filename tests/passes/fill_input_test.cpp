#include "hone/passes/fill_input.h"

#include <gtest/gtest.h>

#include "tests/passes/before_after.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr const char* kMasked = R"(%ids = input : i64[B, S]
%mask = input : i64[B, S]
%row = input : i64[B]
%y = attention_mask(%mask) : f32[B, 1, 1, S]
output y = %y
)";

TEST(FillInput, PutsATensorInItsPlace) {
  expect_after(
      kMasked, [](Graph& graph) { return fill_input(graph, "mask", "ids", 1); },
      R"(%ids = input : i64[B, S]
%row = input : i64[B]
%mask.full = full(%ids) {value=1.0, dtype="i64"} : i64[B, S]
%y = attention_mask(%mask.full) : f32[B, 1, 1, S]
output y = %y
)");
}

TEST(FillInput, LeavesAnInputThatNothingReads) {
  expect_after(
      kMasked, [](Graph& graph) { return fill_input(graph, "ids", "mask", 1); }, kMasked);
}

TEST(FillInput, RefusesWhatDoesNotFit) {
  Graph graph = parse(kMasked);
  EXPECT_EQ(message_of([&] { fill_input(graph, "masks", "ids", 1); }),
            "the graph has no input 'masks'");
  EXPECT_EQ(message_of([&] { fill_input(graph, "mask", "row", 1); }),
            "input 'mask' is i64[B, S], 'row' is i64[B]");
}

}  // namespace
}  // namespace hone::testing
