#include "hone/analysis/draw.h"

#include <gtest/gtest.h>

#include "hone/formats/format.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/passes/quantize.h"
#include "tests/analysis/graph_text.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

Graph small_graph() {
  return parse(
      "%x = input : f32[B, 3]\n"
      "%m.stack.layer.0.dense.weight = parameter weight trainable : f32[2, 3]\n"
      "%m.stack.layer.0.dense = linear(%x, %m.stack.layer.0.dense.weight) : f32[B, 2]\n"
      "%act = relu(%m.stack.layer.0.dense) : f32[B, 2]\n"
      "output y = %act\n");
}

TEST(Draw, GivesBoxesByModuleWithTheirParametersInside) {
  EXPECT_EQ(draw(small_graph(), {"a \"small\" graph"}).dot, R"(digraph {
  label="a \"small\" graph"; labelloc=t; fontname="DejaVu Sans"; fontsize=18; rankdir=TB; nodesep=0.25; ranksep=0.15;
  node [shape=box, style="filled,rounded", fontname="DejaVu Sans", fontsize=10, color="#888888"];
  edge [color="#555555", arrowsize=0.6, fontname="DejaVu Sans", fontsize=8, fontcolor="#666666"];
  "x" [shape=ellipse, style=filled, fillcolor="#ffffff", label=<<b>x</b><br/>f32[B, 3]>];
  "act" [fillcolor="#fff2cc", label=<<b>relu</b><br/>act>];
  subgraph cluster_1 { label="m.stack.layer.0"; fontsize=12; style=rounded; color="#bbbbbb";
  "m.stack.layer.0.dense" [fillcolor="#cfe2f3", label=<<b>linear</b><br/>dense<br/><font color="#666666">weight [2, 3]</font>>];
  }
  subgraph cluster_legend { label="operations"; fontsize=12; style=rounded; color="#bbbbbb";
  "legend products" [fillcolor="#cfe2f3", label="products"];
  "legend element by element" [fillcolor="#fff2cc", label="element by element"];
  }
  "x" -> "m.stack.layer.0.dense" [label="f32[B, 3]"];
  "m.stack.layer.0.dense" -> "act" [label="f32[B, 2]"];
  "output y" [shape=ellipse, style=filled, fillcolor="#ffffff", label=<<b>y</b>>];
  "act" -> "output y" [label="f32[B, 2]"];
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

TEST(Draw, NestsTheModulesOfABert) {
  EncoderConfig config;
  config.num_hidden_layers = 2;
  const std::string dot =
      draw(build_graph(ops(), bert(), config, {}), {"a model", /*equal_layers=*/0}).dot;
  EXPECT_EQ(count(dot, "label=\"bert\""), 1);
  EXPECT_EQ(count(dot, "label=\"attention\""), 2) << "in each layer";
  EXPECT_EQ(count(dot, "label=\"attention.self\""), 2) << dot;
  EXPECT_EQ(count(dot, "label=\"bert.encoder.layer.1\""), 1);
  EXPECT_EQ(count(dot, "label=\"bert.embeddings\""), 1);
  EXPECT_EQ(count(dot, "<b>linear</b>"), 14);
  EXPECT_EQ(count(dot, "weight [3072, 768]"), 2);
}

TEST(Draw, GroupsByTheFirstNumberOfAName) {
  const std::string dot = draw(parse("%x = input : f32[B, 3]\n"
                                     "%net.h.0.mlp.act = relu(%x) : f32[B, 3]\n"
                                     "%net.h.0.mlp.out = tanh(%net.h.0.mlp.act) : f32[B, 3]\n"
                                     "%net.h.1.mlp.act = relu(%net.h.0.mlp.out) : f32[B, 3]\n"
                                     "%net.h.1.mlp.out = tanh(%net.h.1.mlp.act) : f32[B, 3]\n"
                                     "output y = %net.h.1.mlp.out\n"),
                               {"net", /*equal_layers=*/1})
                              .dot;
  EXPECT_EQ(count(dot, "label=\"net.h.0 to 1 (×2)\""), 1) << dot;
}

// One statement per node, and one edge per operand that is not a parameter.
TEST(Draw, DrawsEveryOperationAndEdgeOnce) {
  EncoderConfig config;
  config.num_hidden_layers = 1;
  const Graph graph = build_graph(ops(), bert(), config, {.labels = Task::single_label});
  const std::string dot = draw(graph, {"bert"}).dot;
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

Graph bert_of(int layers) {
  EncoderConfig config;
  config.num_hidden_layers = layers;
  return build_graph(ops(), bert(), config, {});
}

TEST(Draw, FoldsEqualLayers) {
  const Drawing one = draw(bert_of(1), {"bert"}), six = draw(bert_of(6), {"bert"});
  EXPECT_EQ(count(six.dot, "label=\"bert.encoder.layer.0 to 5 (×6)\""), 1) << six.dot;
  EXPECT_EQ(count(six.dot, "label=<"), count(one.dot, "label=<")) << "one layer is drawn";
  EXPECT_EQ(count(six.dot, " -> "), count(one.dot, " -> "));
  EXPECT_EQ(six.dot.find("layer.1."), std::string::npos);
  EXPECT_EQ(six.drawn, one.drawn);
  EXPECT_EQ(six.folded_layers, 5);
  const std::int64_t layer = (six.operations - six.drawn) / 5;
  EXPECT_EQ(six.operations, six.drawn + 5 * layer);
  EXPECT_EQ(drawn_sentence(six),
            fmt::format("drawn: {} operations; 5 equal layers with {} operations folded; {} in all",
                        six.drawn, 5 * layer, six.operations));
}

TEST(Draw, DrawsAsManyEqualLayersAsAskedFor) {
  const Graph graph = bert_of(4);
  const Drawing two = draw(graph, {"bert", /*equal_layers=*/2});
  EXPECT_EQ(count(two.dot, "label=\"bert.encoder.layer.0\""), 1);
  EXPECT_EQ(count(two.dot, "label=\"bert.encoder.layer.1 to 3 (×3)\""), 1);
  EXPECT_EQ(two.folded_layers, 2);
  const Drawing all = draw(graph, {"bert", /*equal_layers=*/0});
  EXPECT_EQ(all.folded_layers, 0);
  EXPECT_EQ(all.drawn, all.operations);
  EXPECT_EQ(drawn_sentence(all), fmt::format("drawn: all {} operations", all.operations));
}

TEST(Draw, CountsAllLayersOfAModuleThatIsOneBox) {
  const Graph graph = bert_of(4);
  const Drawing drawing = draw(graph, {.title = "bert", .depth = 1});
  EXPECT_EQ(drawing.folded_layers, 0);
  EXPECT_EQ(drawing.drawn + drawing.boxed, drawing.operations);
  std::int64_t encoder = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    encoder += node->name().starts_with("bert.encoder.") ? 1 : 0;
  EXPECT_NE(drawing.dot.find(fmt::format("<b>bert.encoder</b><br/>{} operations", encoder)),
            std::string::npos)
      << drawing.dot;
}

TEST(Draw, TellsLayersApartByFormatAndNamesFormats) {
  static const FormatTable formats = builtin_formats();
  Graph graph = bert_of(3);
  const Format eight = parse_format("integer(width=8,frac=4)", formats),
               four = parse_format("int(bits=4)", formats);
  QuantizationPlan plan = uniform_plan(graph, {.weight = eight});
  for (auto& [layer, chosen] : plan)
    if (layer.starts_with("bert.encoder.layer.2.")) chosen.weight = four;
  quantize(graph, plan);
  const Drawing drawing = draw(graph, {"bert"});
  EXPECT_EQ(drawing.folded_layers, 1) << "layer 2 is another";
  EXPECT_EQ(count(drawing.dot, "label=\"bert.encoder.layer.0 to 1 (×2)\""), 1) << drawing.dot;
  EXPECT_EQ(count(drawing.dot, "label=\"" + to_string(eight) + "\""), 1) << "in the legend";
  EXPECT_EQ(count(drawing.dot, "label=\"" + to_string(four) + "\""), 1);
  // One layer in each format, plus pooler and classifier.
  EXPECT_EQ(count(drawing.dot, "<b>" + to_string(four) + "</b>"), 6);
  EXPECT_EQ(count(drawing.dot, "<b>" + to_string(eight) + "</b>"), 8);
  EXPECT_EQ(count(drawing.dot, "fillcolor=\"#8ce99a\""), 7) << "quantizers and legend";
}

TEST(Draw, EscapesNamesThatLookLikeMarkup) {
  const TemporaryFolder folder;
  Graph graph(ops());
  const Value x = graph.add_input("a<b>&c", {DType::f32, {2}});
  const Value w =
      graph.add_parameter("m.n.<w>", {DType::f32, {2}}, ParameterRole::weight, /*trainable=*/true);
  graph.set_output("<y>", graph.add("add", {x, w}, {}, "m.n.\"<op>\""));
  const std::string dot = draw(graph, {"<b>"}).dot;
  EXPECT_NE(dot.find("<b>a&lt;b&gt;&amp;c</b>"), std::string::npos) << dot;
  write_drawing(draw(graph, {"<b>"}), folder.path() / "odd.svg");
  EXPECT_NE(read_file(folder.path() / "odd.svg").find("&lt;w&gt;"), std::string::npos);
}

TEST(Draw, WritesPicturesByExtension) {
  const TemporaryFolder folder;
  const Drawing drawing = draw(small_graph(), {"small"});
  const auto written = [&](const char* name) {
    write_drawing(drawing, folder.path() / name);
    return read_file(folder.path() / name);
  };
  const std::string svg = written("graph.svg");
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("layer.0"), std::string::npos);
  EXPECT_TRUE(written("graph.png").starts_with("\x89PNG"));
  EXPECT_TRUE(written("graph.pdf").starts_with("%PDF"));
  EXPECT_EQ(written("graph.dot"), drawing.dot);
}

TEST(Draw, RefusesOtherExtensions) {
  expect_user_error("cannot draw into this kind of file; expected .svg, .png, .pdf or .dot",
                    [] { write_drawing({}, "graph.jpeg"); });
}

TEST(Draw, NamesWhatIsNoFolder) {
  const TemporaryFolder folder;
  folder.file("file", "");
  expect_user_error("file/graph.dot: cannot make the folders above it",
                    [&] { write_drawing({}, folder.path() / "file" / "graph.dot"); });
}

}  // namespace
}  // namespace hone::testing
