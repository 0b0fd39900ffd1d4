#pragma once

#include <gtest/gtest.h>

#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "tests/support/evaluate.h"

namespace hone::testing {

/// Runs `pass` on the graph `before` and compares the text. The pass must return whether it changed the graph.
template <typename Pass>
void expect_after(std::string_view before, Pass&& pass, std::string_view after) {
  Graph graph = parse(before);
  const std::string canonical = to_string(graph);
  const bool changed = pass(graph);
  verify(graph);
  EXPECT_EQ(to_string(graph), after);
  EXPECT_EQ(changed, canonical != to_string(graph));
}

}  // namespace hone::testing
