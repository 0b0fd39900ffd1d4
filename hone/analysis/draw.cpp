#include "hone/analysis/draw.h"

#include <map>
#include <vector>

#include "hone/base/process.h"
#include "hone/base/text.h"

namespace hone {
namespace {

std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

// Text inside of Graphviz's markup labels.
std::string markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string_view fill_of(Trait trait) {
  switch (trait) {
    case Trait::contraction:
      return "#cfe2f3";
    case Trait::row_reduction:
      return "#d9ead3";
    case Trait::element_wise:
      return "#fff2cc";
    case Trait::view:
      return "#f3f3f3";
    case Trait::update:
      return "#f4cccc";
    case Trait::other:
      return "#ead1dc";
  }
  return "white";
}

// "bert.encoder.layer.0" for everything inside that layer, else the first two components: one box of the drawing.
std::string group_of(const std::string& name) {
  std::size_t end = 0;
  int components = 0;
  while (components < 2 && end != std::string::npos) {
    end = name.find('.', end + 1);
    ++components;
  }
  if (end == std::string::npos) return "";
  const std::string_view rest = std::string_view(name).substr(end);
  if (rest.starts_with(".layer.")) {
    end = name.find('.', end + std::string_view(".layer.").size());
    if (end == std::string::npos) return "";
  }
  return name.substr(0, end);
}

std::string operation_label(const Node& node, const std::string& group) {
  std::string name = node.name();
  if (!group.empty()) name = name.substr(group.size() + 1);
  std::string label = fmt::format("<b>{}</b><br/>{}", node.op().name, markup(name));
  for (const Value& input : node.inputs()) {
    if (input.node->kind() != NodeKind::parameter) continue;
    const std::string& parameter = input.node->name();
    label += fmt::format("<br/><font color=\"#666666\">{} {}</font>",
                         markup(parameter.substr(parameter.rfind('.') + 1)),
                         to_string(input.node->types()[0].shape));
  }
  return label + fmt::format("<br/><font color=\"#444444\">{}</font>", to_string(node.types()[0]));
}

std::string statement(const Node& node, const std::string& group) {
  if (node.kind() == NodeKind::input) {
    return fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\", label=<<b>{}</b><br/>{}>];\n",
        dot_string(node.name()), markup(node.name()), to_string(node.types()[0]));
  }
  return fmt::format("  {} [fillcolor=\"{}\", label=<{}>];\n", dot_string(node.name()),
                     fill_of(node.op().trait), operation_label(node, group));
}

}  // namespace

std::string to_dot(const Graph& graph, const std::string& title) {
  std::map<std::string, std::string> groups;
  std::vector<std::string> order;
  std::string edges;
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) continue;
    const std::string group = node->kind() == NodeKind::operation ? group_of(node->name()) : "";
    if (!groups.contains(group)) order.push_back(group);
    groups[group] += statement(*node, group);
    for (const Value& input : node->inputs()) {
      if (input.node->kind() != NodeKind::parameter)
        edges +=
            fmt::format("  {} -> {};\n", dot_string(input.node->name()), dot_string(node->name()));
    }
  }
  std::string dot = fmt::format(
      "digraph {{\n  label={}; labelloc=t; fontname=\"DejaVu Sans\"; fontsize=18; rankdir=TB; "
      "nodesep=0.25; ranksep=0.3;\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=\"DejaVu Sans\", fontsize=10, "
      "color=\"#888888\"];\n"
      "  edge [color=\"#555555\", arrowsize=0.6];\n",
      dot_string(title));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool boxed = !order[i].empty();
    if (boxed)
      dot += fmt::format(
          "  subgraph cluster_{} {{ label={}; fontsize=12; style=rounded; color=\"#bbbbbb\";\n", i,
          dot_string(order[i]));
    dot += groups[order[i]];
    if (boxed) dot += "  }\n";
  }
  dot += edges;
  for (const auto& [name, value] : graph.outputs()) {
    const std::string id = dot_string("output " + name);
    dot += fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\", label=<<b>{}</b>>];\n  {} -> "
        "{};\n",
        id, markup(name), dot_string(value.node->name()), id);
  }
  return dot + "}\n";
}

void draw_graph(const Graph& graph, const std::string& title, const fs::path& file) {
  const std::string extension = file.extension().string();
  const std::string dot = to_dot(graph, title);
  if (extension == ".dot") return write_file(file, dot);
  user_check(extension == ".svg" || extension == ".png" || extension == ".pdf",
             "{}: cannot draw into this kind of file; expected .svg, .png, .pdf or .dot",
             file.string());
  // Graphviz reads and writes in a folder of its own, so that the picture appears whole or not at all.
  const ScratchFolder work(fs::temp_directory_path() / "hone-draw");
  write_file(work.path() / "graph.dot", dot);
  run_program({"dot", "-T" + extension.substr(1), "graph.dot", "-o", "picture"}, work.path(),
              "graphviz");
  write_file(file, read_file(work.path() / "picture"));
}

}  // namespace hone
