#include "hone/analysis/draw.h"

#include <algorithm>
#include <map>
#include <set>
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

// Escapes text for Graphviz's HTML-like labels.
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

bool is_number(std::string_view component) {
  return !component.empty() && component.find_first_not_of("0123456789") == std::string::npos;
}

// Returns the module path of the box that contains a name: up to its first number, "bert.encoder.layer.0", else the
// first two components.
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

// Returns a name without the path of its group.
std::string relative(const std::string& name, const std::string& group) {
  return group.empty() || !name.starts_with(group + ".") ? name : name.substr(group.size() + 1);
}

/// A layer of a stack, with a description that is equal for equal layers.
struct Layer {
  std::string name;
  std::int64_t operations = 0;
  std::string description;
};

// Describes an operation independently of its position. Integer attributes are left out, because the random streams
// among them differ from layer to layer.
std::string description_of(const Node& node, const std::string& layer, const DrawOptions& options) {
  const auto mark = options.marks.find(node.name());
  std::string text = fmt::format("{}{} {}", mark == options.marks.end() ? ' ' : mark->second,
                                 relative(node.name(), layer), node.op().name);
  const Node* const one[] = {&node};
  if (options.colouring.number)
    if (const std::optional<double> number = options.colouring.number(one))
      text += " " + options.colouring.text(*number);
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

// Returns the outermost closed module around an operation, or 0, the whole model, if all are open.
std::size_t closed_module(const ModuleTree& tree, const Node& node, std::int64_t depth) {
  std::size_t module = tree.module_of.at(&node), closed = 0;
  for (; depth > 0 && module != 0; module = tree.modules[module].parent)
    if (tree.modules[module].depth > depth) closed = module;
  return closed;
}

// Skips operations inside a module drawn as one box, because that box counts all of them.
std::vector<Layer> layers_of(const Graph& graph, const ModuleTree& tree,
                             const DrawOptions& options) {
  std::vector<Layer> layers;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::string group = group_of(node->name());
    const std::string& box = tree.modules[closed_module(tree, *node, options.depth)].path;
    if (!is_layer(group) || (!box.empty() && group.starts_with(box + "."))) continue;
    auto layer = std::ranges::find(layers, group, &Layer::name);
    if (layer == layers.end()) layer = layers.insert(layer, {group, 0, ""});
    ++layer->operations;
    layer->description += description_of(*node, group, options);
  }
  return layers;
}

std::string stack_of(const Layer& layer) { return layer.name.substr(0, layer.name.rfind('.')); }

/// The layers that are not drawn, and the layers that represent them.
struct Folding {
  std::map<std::string, std::string> drawn_as;  ///< folded layer -> the layer that represents it
  std::map<std::string, std::string> labels;    ///< of layers that represent others

  bool folds(const std::string& group) const { return drawn_as.contains(group); }
  // Returns the name of the node drawn in place of this one.
  std::string drawn(const std::string& name) const {
    const std::string group = group_of(name);
    const auto to = drawn_as.find(group);
    return to == drawn_as.end() ? name : to->second + name.substr(group.size());
  }
};

Folding fold(const std::vector<Layer>& layers, std::int64_t equal_layers) {
  Folding folding;
  const auto drawn_of_a_row = static_cast<std::size_t>(equal_layers);
  for (std::size_t begin = 0, end = 0; equal_layers > 0 && begin < layers.size(); begin = end) {
    while (end < layers.size() && layers[end].description == layers[begin].description &&
           stack_of(layers[end]) == stack_of(layers[begin]))
      ++end;
    if (end - begin <= drawn_of_a_row) continue;
    const std::size_t last_drawn = begin + drawn_of_a_row - 1;
    for (std::size_t i = last_drawn + 1; i < end; ++i)
      folding.drawn_as[layers[i].name] = layers[last_drawn].name;
    const std::string& last = layers[end - 1].name;
    folding.labels[layers[last_drawn].name] =
        fmt::format("{} to {} (×{})", layers[last_drawn].name, last.substr(last.rfind('.') + 1),
                    end - last_drawn);
  }
  return folding;
}

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

/// The drawing state of one graph: node ids are `prefix` and name.
struct Pen {
  const DrawOptions& options;
  std::string prefix = {};
  std::string id(const std::string& name) const { return dot_string(prefix + name); }
};

// The frame and sign of a marked node.
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

std::string statement(const Node& node, const std::string& group, const Colours& colours,
                      const Pen& pen) {
  const Mark mark = mark_of(node, pen);
  if (node.kind() == NodeKind::input) {
    return fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\"{}, "
        "label=<{}<b>{}</b><br/>{}>];\n",
        pen.id(node.name()), mark.frame, mark.sign, markup(node.name()),
        to_string(node.types()[0]));
  }
  const Node* const one[] = {&node};
  const Colours::Fill fill = colours.of(one);
  return fmt::format("  {} [fillcolor=\"{}\"{}, label=<{}{}{}>];\n", pen.id(node.name()),
                     fill.colour, mark.frame, mark.sign, operation_label(node, group),
                     fill.value_text.empty() ? "" : "<br/><i>" + markup(fill.value_text) + "</i>");
}

/// All operations of a module drawn as one box, including those of its submodules.
using ModuleBoxes = std::map<std::size_t, std::vector<const Node*>>;

// The box of a module, labelled with its name and the number of parameters its operations read.
std::string module_statement(const Module& module, const std::string& label,
                             const std::vector<const Node*>& operations, const Colours& colours,
                             const Pen& pen) {
  std::int64_t parameters = 0, marked = 0;
  for (const Node* node : operations) {
    marked += pen.options.marks.contains(node->name()) ? 1 : 0;
    for (const Value& input : node->inputs())
      if (input.node->kind() == NodeKind::parameter && info(input.node->role()).counted)
        parameters += element_count(resolve(input.node->types()[0].shape, {}));
  }
  const Colours::Fill fill = colours.of(operations);
  std::string text =
      fmt::format("<b>{}</b><br/>{} operations", markup(label), grouped(std::ssize(operations)));
  if (parameters > 0)
    text += fmt::format("<br/><font color=\"#666666\">{} parameters</font>", grouped(parameters));
  if (!fill.value_text.empty()) text += "<br/><i>" + markup(fill.value_text) + "</i>";
  if (marked > 0)
    text += fmt::format("<br/><font color=\"#e67700\"><b>{} differ</b></font>", grouped(marked));
  return fmt::format("  {} [fillcolor=\"{}\", penwidth={}, label=<{}>];\n",
                     pen.id("module " + module.path), fill.colour, marked > 0 ? 3 : 2, text);
}

// The label of a cluster: its path, relative to the layer around it.
std::string module_label(const Module& module, const Folding& folding) {
  const auto label = folding.labels.find(module.path);
  return label != folding.labels.end() ? label->second
                                       : relative(module.path, group_of(module.path));
}

// A module as a cluster with its children inside; empty if none of its operations is drawn.
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

std::string legend_of(const Colours& colours, const Pen& pen) {
  if (colours.legend().empty()) return "";
  std::string text = fmt::format(
      "  subgraph cluster_{}legend {{ label={}; fontsize=12; style=rounded; color=\"#bbbbbb\";\n",
      pen.prefix, dot_string(pen.options.colouring.legend));
  for (const Colours::Entry& entry : colours.legend())
    text += fmt::format("  {} [fillcolor=\"{}\", label={}];\n",
                        dot_string(pen.prefix + "legend " + entry.label), entry.colour,
                        dot_string(entry.label));
  return text + "  }\n";
}

/// The boxes of a graph.
struct Boxes {
  Folding folding;
  ModuleTree tree;
  std::map<std::string, std::string> names;  ///< operation -> the box that contains it
  std::vector<const Node*> single;           ///< operations with their own box
  ModuleBoxes modules;
};

Boxes boxes_of(const Graph& graph, const DrawOptions& options) {
  ModuleTree tree = module_tree(graph);
  Boxes boxes{.folding = fold(layers_of(graph, tree, options), options.equal_layers),
              .tree = std::move(tree),
              .names = {},
              .single = {},
              .modules = {}};
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (boxes.folding.folds(group_of(node->name()))) continue;
    const std::size_t closed = closed_module(boxes.tree, *node, options.depth);
    if (closed == 0) {
      boxes.single.push_back(node);
      boxes.names[node->name()] = node->name();
    } else {
      boxes.modules[closed].push_back(node);
      boxes.names[node->name()] = "module " + boxes.tree.modules[closed].path;
    }
  }
  return boxes;
}

Colours colours_of(const Boxes& boxes, const Colouring& colouring) {
  std::vector<std::vector<const Node*>> all;
  for (const Node* node : boxes.single) all.push_back({node});
  for (const auto& [module, operations] : boxes.modules) all.push_back(operations);
  return {colouring, all};
}

// Returns the statements of one graph.
Drawing body_of(const Graph& graph, const Pen& pen) {
  const Boxes boxes = boxes_of(graph, pen.options);
  const Colours colours = colours_of(boxes, pen.options.colouring);
  const ModuleTree& tree = boxes.tree;
  Drawing drawing{.dot = {},
                  .operations = std::ssize(graph.of_kind(NodeKind::operation)),
                  .drawn = std::ssize(boxes.single),
                  .folded_layers = static_cast<std::int64_t>(boxes.folding.drawn_as.size()),
                  .boxed = 0,
                  .modules = static_cast<std::int64_t>(boxes.modules.size())};
  const auto box_of = [&](const std::string& name) {
    const std::string drawn = boxes.folding.drawn(name);
    const auto box = boxes.names.find(drawn);
    return box == boxes.names.end() ? drawn : box->second;
  };
  std::map<std::size_t, std::string> statements;  // by module
  for (const Node* input : graph.of_kind(NodeKind::input))
    statements[0] += statement(*input, "", colours, pen);
  for (const Node* node : boxes.single) {
    const std::size_t module = tree.module_of.at(node);
    statements[module] += statement(*node, tree.modules[module].path, colours, pen);
  }
  for (const auto& [index, operations] : boxes.modules) {
    const Module& module = tree.modules[index];
    statements[module.parent] +=
        module_statement(module, module_label(module, boxes.folding), operations, colours, pen);
    drawing.boxed += std::ssize(operations);
  }
  // Several values of the same type between two boxes share one edge.
  std::string edges;
  std::set<std::string> drawn;
  const auto add_edge = [&](const std::string& from, const std::string& to, const Type& type,
                            bool once) {
    const std::string text = edge(from, to, type, pen);
    if (from != to && (drawn.insert(text).second || !once)) edges += text;
  };
  for (const auto& node : graph.nodes()) {
    if (node->kind() != NodeKind::operation || boxes.folding.folds(group_of(node->name())))
      continue;
    const std::string to = box_of(node->name());
    for (const Value& input : node->inputs())
      if (input.node->kind() != NodeKind::parameter)
        add_edge(box_of(input.node->name()), to, input.type(),
                 /*once=*/to.starts_with("module ") ||
                     box_of(input.node->name()).starts_with("module "));
  }
  drawing.dot = cluster(tree, 0, boxes.folding, statements, pen) + legend_of(colours, pen) + edges;
  for (const auto& [name, value] : graph.outputs()) {
    drawing.dot += fmt::format(
        "  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\", label=<<b>{}</b>>];\n",
        pen.id("output " + name), markup(name));
    drawing.dot += edge(box_of(value.node->name()), "output " + name, value.type(), pen);
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

Drawing draw_side_by_side(const Graph& left, const DrawOptions& left_options, const Graph& right,
                          const DrawOptions& right_options, const std::string& title) {
  const Drawing a = body_of(left, {left_options, "a_"}), b = body_of(right, {right_options, "b_"});
  return {.dot = whole(
              title, side("a", left_options.title, a.dot) + side("b", right_options.title, b.dot)),
          .operations = a.operations + b.operations,
          .drawn = a.drawn + b.drawn,
          .folded_layers = a.folded_layers + b.folded_layers,
          .boxed = a.boxed + b.boxed,
          .modules = a.modules + b.modules};
}

std::string drawn_sentence(const Drawing& drawing) {
  if (drawing.drawn == drawing.operations)
    return fmt::format("drawn: all {} operations", grouped(drawing.operations));
  std::string text = fmt::format("drawn: {} operations", grouped(drawing.drawn));
  if (drawing.modules > 0)
    text += fmt::format("; {} {} with {} operations as one box each", drawing.modules,
                        drawing.modules == 1 ? "module" : "modules", grouped(drawing.boxed));
  if (drawing.folded_layers > 0)
    text += fmt::format("; {} equal {} with {} operations folded", drawing.folded_layers,
                        drawing.folded_layers == 1 ? "layer" : "layers",
                        grouped(drawing.operations - drawing.drawn - drawing.boxed));
  return text + fmt::format("; {} in all", grouped(drawing.operations));
}

void write_dot(const std::string& dot, const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".dot") return write_file(file, dot);
  user_check(extension == ".svg" || extension == ".png" || extension == ".pdf",
             "{}: cannot draw into this kind of file; expected .svg, .png, .pdf or .dot (a model's "
             "drawing: .html too)",
             file.string());
  // Graphviz works in a scratch folder, so that the file is written completely or not at all.
  const ScratchFolder work(fs::temp_directory_path() / "hone-draw");
  write_file(work.path() / "graph.dot", dot);
  run_program({"dot", "-T" + extension.substr(1), "graph.dot", "-o", "picture"}, work.path(),
              "graphviz");
  write_file(file, read_file(work.path() / "picture"));
}

}  // namespace hone
