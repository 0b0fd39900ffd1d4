#include "hone/analysis/draw.h"

#include <algorithm>
#include <map>
#include <vector>

#include "hone/analysis/module_tree.h"
#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/passes/quantize.h"

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
    case Trait::gather:
    case Trait::other:
      return "#ead1dc";
  }
  return "white";
}

bool is_number(std::string_view component) {
  return !component.empty() && component.find_first_not_of("0123456789") == std::string::npos;
}

// The layer of a stack that a name stands in: up to its first number, "bert.encoder.layer.0". Else the first two
// components: one box of the drawing.
std::string group_of(const std::string& name) {
  const std::vector<std::string> components = split(name, '.');
  const auto number = std::ranges::find_if(components, is_number);
  const auto count = number != components.end() ? number - components.begin() + 1 : 2;
  if (std::ssize(components) <= count) return "";
  return fmt::format("{}", fmt::join(components.begin(), components.begin() + count, "."));
}

bool is_layer(const std::string& group) {
  return is_number(std::string_view(group).substr(group.rfind('.') + 1));
}

// A name without the path of its group.
std::string relative(const std::string& name, const std::string& group) {
  return group.empty() || !name.starts_with(group + ".") ? name : name.substr(group.size() + 1);
}

/// A layer of a stack, and what makes two of them equal.
struct Layer {
  std::string name;
  std::int64_t operations = 0;
  std::string description;
};

// What an operation is but for where it stands. Whole numbers among its attributes do not count: the streams of random
// numbers, which differ from layer to layer, are such.
std::string description_of(const Node& node, const std::string& layer) {
  std::string text = fmt::format("{} {}", relative(node.name(), layer), node.op().name);
  for (const auto& [key, value] : node.attributes().items()) {
    if (const auto* format = std::get_if<Format>(&value)) text += " " + to_string(*format);
    if (const auto* number = std::get_if<double>(&value)) text += fmt::format(" {}", *number);
  }
  for (const Type& type : node.types()) text += " " + to_string(type);
  for (const Value& input : node.inputs()) {
    const std::string& name = input.node->name();
    const bool inside = name.starts_with(layer + ".");
    text +=
        fmt::format(" {}:{}", inside ? relative(name, layer) : "outside", to_string(input.type()));
  }
  return text + "\n";
}

std::vector<Layer> layers_of(const Graph& graph) {
  std::vector<Layer> layers;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::string group = group_of(node->name());
    if (!is_layer(group)) continue;
    auto layer = std::ranges::find(layers, group, &Layer::name);
    if (layer == layers.end()) layer = layers.insert(layer, {group, 0, ""});
    ++layer->operations;
    layer->description += description_of(*node, group);
  }
  return layers;
}

std::string stack_of(const Layer& layer) { return layer.name.substr(0, layer.name.rfind('.')); }

/// Which layers are not drawn, and what stands for them.
struct Folding {
  std::map<std::string, std::string> drawn_as;  ///< a folded layer -> the one that stands for it
  std::map<std::string, std::string> labels;    ///< of layers that stand for others

  bool folds(const std::string& group) const { return drawn_as.contains(group); }
  // The node that is drawn in the place of the one called so.
  std::string drawn(const std::string& name) const {
    const std::string group = group_of(name);
    const auto to = drawn_as.find(group);
    return to == drawn_as.end() ? name : to->second + name.substr(group.size());
  }
};

Folding fold(const std::vector<Layer>& layers, std::int64_t depth) {
  Folding folding;
  const auto drawn_of_a_row = static_cast<std::size_t>(depth);
  for (std::size_t begin = 0, end = 0; depth > 0 && begin < layers.size(); begin = end) {
    while (end < layers.size() && layers[end].description == layers[begin].description &&
           stack_of(layers[end]) == stack_of(layers[begin]))
      ++end;
    if (end - begin <= drawn_of_a_row) continue;
    const std::size_t standing = begin + drawn_of_a_row - 1;
    for (std::size_t i = standing + 1; i < end; ++i)
      folding.drawn_as[layers[i].name] = layers[standing].name;
    const std::string& last = layers[end - 1].name;
    folding.labels[layers[standing].name] = fmt::format(
        "{} to {} (×{})", layers[standing].name, last.substr(last.rfind('.') + 1), end - standing);
  }
  return folding;
}

/// A colour for each format that quantizers have, in the order in which they are met; they repeat.
class FormatColours {
 public:
  std::string_view of(const Node& quantizer) {
    static constexpr std::string_view kColours[] = {"#ffc078", "#8ce99a", "#74c0fc", "#e599f7",
                                                    "#ffe066", "#ffa8a8", "#63e6be", "#b197fc"};
    const std::string format = to_string(quantizer.attributes().get<Format>("format"));
    const auto found = std::ranges::find(formats_, format);
    const auto index = static_cast<std::size_t>(found - formats_.begin());
    if (found == formats_.end()) formats_.push_back(format);
    colours_.resize(formats_.size(), kColours[index % std::size(kColours)]);
    return colours_[index];
  }
  std::string legend(const std::string& prefix) const {
    if (formats_.empty()) return "";
    std::string text = fmt::format(
        "  subgraph cluster_{}legend {{ label=\"quantized to\"; fontsize=12; "
        "style=rounded; color=\"#bbbbbb\";\n",
        prefix);
    for (std::size_t i = 0; i < formats_.size(); ++i)
      text += fmt::format("  {} [fillcolor=\"{}\", label={}];\n",
                          dot_string(prefix + "format " + formats_[i]), colours_[i],
                          dot_string(formats_[i]));
    return text + "  }\n";
  }

 private:
  std::vector<std::string> formats_;
  std::vector<std::string_view> colours_;
};

std::string operation_label(const Node& node, const std::string& group) {
  std::string label =
      fmt::format("<b>{}</b><br/>{}", node.op().name, markup(relative(node.name(), group)));
  if (is_quantizer(node))
    label +=
        fmt::format("<br/><b>{}</b>", markup(to_string(node.attributes().get<Format>("format"))));
  for (const Value& input : node.inputs()) {
    if (input.node->kind() != NodeKind::parameter) continue;
    const std::string& parameter = input.node->name();
    label += fmt::format("<br/><font color=\"#666666\">{} {}</font>",
                         markup(parameter.substr(parameter.rfind('.') + 1)),
                         to_string(input.node->types()[0].shape));
  }
  return label;
}

/// What is drawn of one graph of a drawing: its nodes are called by `prefix` and their names.
struct Pen {
  const DrawOptions& options;
  std::string prefix = {};
  std::string id(const std::string& name) const { return dot_string(prefix + name); }
};

// The frame of a node that stands out, and its sign.
struct Mark {
  std::string frame, sign;
};

Mark mark_of(const Node& node, const Pen& pen) {
  const auto mark = pen.options.marks.find(node.name());
  if (mark == pen.options.marks.end()) return {};
  const char* colour = mark->second == '+'   ? "#2b8a3e"
                       : mark->second == '-' ? "#c92a2a"
                                             : "#e67700";
  return {fmt::format(", color=\"{}\", penwidth=3", colour),
          fmt::format("<font color=\"{}\"><b>{} </b></font>", colour, mark->second)};
}

std::string statement(const Node& node, const std::string& group, FormatColours& formats,
                      const Pen& pen) {
  const Mark mark = mark_of(node, pen);
  if (node.kind() == NodeKind::input) {
    return fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\"{}, "
        "label=<{}<b>{}</b><br/>{}>];\n",
        pen.id(node.name()), mark.frame, mark.sign, markup(node.name()),
        to_string(node.types()[0]));
  }
  return fmt::format("  {} [fillcolor=\"{}\"{}, label=<{}{}>];\n", pen.id(node.name()),
                     is_quantizer(node) ? formats.of(node) : fill_of(node.op().trait), mark.frame,
                     mark.sign, operation_label(node, group));
}

// Of a cluster: its whole path, but for what the layer around it says already.
std::string module_label(const Module& module, const Folding& folding) {
  const auto label = folding.labels.find(module.path);
  return label != folding.labels.end() ? label->second
                                       : relative(module.path, group_of(module.path));
}

// A module as a cluster with its children inside; nothing where none of its operations is drawn.
std::string cluster(const ModuleTree& tree, std::size_t index, const Folding& folding,
                    const std::map<std::size_t, std::string>& statements, const Pen& pen) {
  const Module& module = tree.modules[index];
  const auto own = statements.find(index);
  std::string inside = own == statements.end() ? "" : own->second;
  for (const std::size_t child : module.children)
    inside += cluster(tree, child, folding, statements, pen);
  if (inside.empty() || index == 0) return inside;
  return fmt::format(
      "  subgraph cluster_{}{} {{ label={}; fontsize=12; style=rounded; color=\"#bbbbbb\";\n{}  "
      "}}\n",
      pen.prefix, index, dot_string(module_label(module, folding)), inside);
}

std::string edge(const std::string& from, const std::string& to, const Type& type, const Pen& pen) {
  return fmt::format("  {} -> {} [label={}];\n", pen.id(from), pen.id(to),
                     dot_string(to_string(type)));
}

// The statements of one graph.
Drawing body_of(const Graph& graph, const Pen& pen) {
  const Folding folding = fold(layers_of(graph), pen.options.depth);
  const ModuleTree tree = module_tree(graph);
  Drawing drawing;
  drawing.folded_layers = static_cast<std::int64_t>(folding.drawn_as.size());
  FormatColours formats;
  std::map<std::size_t, std::string> statements;  // by module
  std::string edges;
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) continue;
    const bool operation = node->kind() == NodeKind::operation;
    drawing.operations += operation ? 1 : 0;
    if (operation && folding.folds(group_of(node->name()))) continue;
    drawing.drawn += operation ? 1 : 0;
    const std::size_t module = operation ? tree.module_of.at(node.get()) : 0;
    statements[module] += statement(*node, tree.modules[module].path, formats, pen);
    for (const Value& input : node->inputs()) {
      if (input.node->kind() != NodeKind::parameter)
        edges += edge(folding.drawn(input.node->name()), node->name(), input.type(), pen);
    }
  }
  drawing.dot = cluster(tree, 0, folding, statements, pen) + formats.legend(pen.prefix) + edges;
  for (const auto& [name, value] : graph.outputs()) {
    drawing.dot += fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\", label=<<b>{}</b>>];\n",
        pen.id("output " + name), markup(name));
    drawing.dot += edge(folding.drawn(value.node->name()), "output " + name, value.type(), pen);
  }
  return drawing;
}

std::string whole(const std::string& title, const std::string& body) {
  return fmt::format(
             "digraph {{\n  label={}; labelloc=t; fontname=\"DejaVu Sans\"; fontsize=18; "
             "rankdir=TB; nodesep=0.25; ranksep=0.15;\n"
             "  node [shape=box, style=\"filled,rounded\", fontname=\"DejaVu Sans\", fontsize=10, "
             "color=\"#888888\"];\n"
             "  edge [color=\"#555555\", arrowsize=0.6, fontname=\"DejaVu Sans\", fontsize=8, "
             "fontcolor=\"#666666\"];\n",
             dot_string(title)) +
         body + "}\n";
}

std::string side(const std::string& name, const std::string& title, const std::string& body) {
  return fmt::format(
      "  subgraph cluster_side_{} {{ label={}; fontsize=14; style=solid; color=\"#888888\";\n{}  "
      "}}\n",
      name, dot_string(title), body);
}

}  // namespace

Drawing draw(const Graph& graph, const DrawOptions& options) {
  Drawing drawing = body_of(graph, {options});
  drawing.dot = whole(options.title, drawing.dot);
  return drawing;
}

Drawing draw_beside(const Graph& left, const DrawOptions& left_options, const Graph& right,
                    const DrawOptions& right_options, const std::string& title) {
  const Drawing a = body_of(left, {left_options, "a_"}), b = body_of(right, {right_options, "b_"});
  return {.dot = whole(
              title, side("a", left_options.title, a.dot) + side("b", right_options.title, b.dot)),
          .operations = a.operations + b.operations,
          .drawn = a.drawn + b.drawn,
          .folded_layers = a.folded_layers + b.folded_layers};
}

std::string drawn_sentence(const Drawing& drawing) {
  if (drawing.folded_layers == 0)
    return fmt::format("drawn: all {} operations", grouped(drawing.operations));
  const std::int64_t folded = drawing.operations - drawing.drawn;
  return fmt::format("drawn: {} operations; {} equal {} with {} operations folded; {} in all",
                     grouped(drawing.drawn), drawing.folded_layers,
                     drawing.folded_layers == 1 ? "layer" : "layers", grouped(folded),
                     grouped(drawing.operations));
}

void write_dot(const std::string& dot, const fs::path& file) {
  const std::string extension = file.extension().string();
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
