#include "hone/analysis/module_tree.h"

#include <gtest/gtest.h>

#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

TEST(ModuleTree, NestsWhatSharesAPathAndKeepsNumbersWithTheirWord) {
  const Graph graph = parse(
      "%x = input : f32[B, 3]\n"
      "%m.layer.0.query = relu(%x) : f32[B, 3]\n"
      "%m.layer.0.query.heads = tanh(%m.layer.0.query) : f32[B, 3]\n"
      "%m.layer.1.alone = relu(%m.layer.0.query.heads) : f32[B, 3]\n"
      "%head = tanh(%m.layer.1.alone) : f32[B, 3]\n"
      "output y = %head\n");
  const ModuleTree tree = module_tree(graph);
  std::vector<std::string> paths, labels;
  for (const Module& module : tree.modules) {
    paths.push_back(module.path);
    labels.push_back(module.label);
  }
  EXPECT_EQ(paths,
            (std::vector<std::string>{"", "m", "m.layer.0", "m.layer.0.query", "m.layer.1"}));
  EXPECT_EQ(labels, (std::vector<std::string>{"", "m", "layer.0", "query", "layer.1"}));
  EXPECT_EQ(tree.module_of.at(graph.find("head")), 0);
  EXPECT_EQ(tree.module_of.at(graph.find("m.layer.0.query")), 3) << "beside its heads";
  EXPECT_EQ(tree.modules[3].depth, 3);
  EXPECT_EQ(tree.modules[1].children, (std::vector<std::size_t>{2, 4}));
}

}  // namespace
}  // namespace hone::testing
