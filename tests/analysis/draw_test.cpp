#include "hone/analysis/draw.h"

#include <gtest/gtest.h>

#include "hone/formats/format.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/ir/parse.h"
#include "hone/ops/list.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

const OpTable& ops() {
  static const OpTable table = builtin_ops();
  return table;
}

Graph parse(std::string_view text) {
  static const FormatTable formats = builtin_formats();
  return parse_graph(text, ops(), formats);
}

Graph small_graph() {
  return parse(
      "%x = input : f32[B, 3]\n"
      "%m.stack.layer.0.dense.weight = parameter trainable : f32[2, 3]\n"
      "%m.stack.layer.0.dense = linear(%x, %m.stack.layer.0.dense.weight) : f32[B, 2]\n"
      "%act = relu(%m.stack.layer.0.dense) : f32[B, 2]\n"
      "output y = %act\n");
}

TEST(Draw, GivesBoxesByModuleWithTheirParametersInside) {
  EXPECT_EQ(to_dot(small_graph(), "a \"small\" graph"), R"(digraph {
  label="a \"small\" graph"; labelloc=t; fontname="DejaVu Sans"; fontsize=18; rankdir=TB; nodesep=0.25; ranksep=0.3;
  node [shape=box, style="filled,rounded", fontname="DejaVu Sans", fontsize=10, color="#888888"];
  edge [color="#555555", arrowsize=0.6];
  "x" [shape=ellipse, style=filled, fillcolor="#ffffff", label=<<b>x</b><br/>f32[B, 3]>];
  "act" [fillcolor="#fff2cc", label=<<b>relu</b><br/>act<br/><font color="#444444">f32[B, 2]</font>>];
  subgraph cluster_1 { label="m.stack.layer.0"; fontsize=12; style=rounded; color="#bbbbbb";
  "m.stack.layer.0.dense" [fillcolor="#cfe2f3", label=<<b>linear</b><br/>dense<br/><font color="#666666">weight [2, 3]</font><br/><font color="#444444">f32[B, 2]</font>>];
  }
  "x" -> "m.stack.layer.0.dense";
  "m.stack.layer.0.dense" -> "act";
  "output y" [shape=ellipse, style=filled, fillcolor="#ffffff", label=<<b>y</b>>];
  "act" -> "output y";
}
)");
}

std::int64_t count(const std::string& text, std::string_view fragment) {
  std::int64_t found = 0;
  for (std::size_t at = text.find(fragment); at != std::string::npos;
       at = text.find(fragment, at + 1))
    ++found;
  return found;
}

TEST(Draw, GroupsABertByLayer) {
  BertConfig config;
  config.num_hidden_layers = 2;
  const std::string dot = to_dot(build_bert(ops(), config, {}), "bert");
  EXPECT_EQ(count(dot, "subgraph"), 4);  // embeddings, two layers, pooler
  EXPECT_EQ(count(dot, "label=\"bert.encoder.layer.1\""), 1);
  EXPECT_EQ(count(dot, "label=\"bert.embeddings\""), 1);
  EXPECT_EQ(count(dot, "<b>linear</b>"), 14);
  EXPECT_EQ(count(dot, "weight [3072, 768]"), 2);
}

// One statement per node and one edge per operand that is no parameter.
TEST(Draw, DrawsEveryOperationAndEdgeOnce) {
  BertConfig config;
  config.num_hidden_layers = 1;
  const Graph graph = build_bert(ops(), config, {.labels = true});
  const std::string dot = to_dot(graph, "bert");
  std::int64_t nodes = 0, edges = 0;
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) continue;
    ++nodes;
    for (const Value& input : node->inputs())
      edges += input.node->kind() == NodeKind::parameter ? 0 : 1;
  }
  const auto outputs = static_cast<std::int64_t>(graph.outputs().size());
  EXPECT_EQ(count(dot, " -> "), edges + outputs);
  EXPECT_EQ(count(dot, "label=<"), nodes + outputs);
}

TEST(Draw, EscapesNamesThatLookLikeMarkup) {
  const TemporaryFolder folder;
  Graph graph(ops());
  const Value x = graph.add_input("a<b>&c", {DType::f32, {2}});
  const Value w = graph.add_parameter("m.n.<w>", {DType::f32, {2}}, /*trainable=*/true);
  graph.set_output("<y>", graph.add("add", {x, w}, {}, "m.n.\"<op>\""));
  const std::string dot = to_dot(graph, "<b>");
  EXPECT_NE(dot.find("<b>a&lt;b&gt;&amp;c</b>"), std::string::npos) << dot;
  draw_graph(graph, "<b>", folder.path() / "odd.svg");
  EXPECT_NE(read_file(folder.path() / "odd.svg").find("&lt;w&gt;"), std::string::npos);
}

TEST(Draw, WritesPicturesByExtension) {
  const TemporaryFolder folder;
  const auto draw = [&](const char* name) {
    draw_graph(small_graph(), "small", folder.path() / name);
    return read_file(folder.path() / name);
  };
  const std::string svg = draw("graph.svg");
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("layer.0"), std::string::npos);
  EXPECT_TRUE(draw("graph.png").starts_with("\x89PNG"));
  EXPECT_TRUE(draw("graph.pdf").starts_with("%PDF"));
  EXPECT_EQ(draw("graph.dot"), to_dot(small_graph(), "small"));
}

TEST(Draw, RefusesOtherExtensions) {
  expect_user_error("cannot draw into this kind of file; expected .svg, .png, .pdf or .dot",
                    [] { draw_graph(small_graph(), "small", "graph.jpeg"); });
}

TEST(Draw, NamesAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  expect_user_error("nowhere", [&] {
    draw_graph(small_graph(), "small", folder.path() / "nowhere" / "graph.dot");
  });
}

}  // namespace
}  // namespace hone
