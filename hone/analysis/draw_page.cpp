#include "hone/analysis/draw_page.h"

#include "hone/analysis/draw_page_script.h"
#include "hone/analysis/module_tree.h"
#include "hone/base/json.h"
#include "hone/ir/print.h"
#include "hone/report/html_text.h"

namespace hone {
namespace {

// Escapes JSON for a script element, so that nothing in it closes the element.
std::string script_data(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

std::string attribute_text(const Node& node) {
  std::string text;
  for (const auto& [name, value] : node.attributes().items())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, to_string(value));
  return text;
}

Json parameters_of(const Node& node) {
  Json rows = Json::array();
  for (const Value& input : node.inputs())
    if (input.node->kind() == NodeKind::parameter)
      rows.push_back({input.node->name(), to_string(input.node->types()[0])});
  return rows;
}

Json types_of(const Node& node) {
  Json types = Json::array();
  for (const Type& type : node.types()) types.push_back(to_string(type));
  return types;
}

std::string mark_of(const Node& node, const DrawOptions& options) {
  const auto mark = options.marks.find(node.name());
  return mark == options.marks.end() ? "" : std::string(1, mark->second);
}

void collect(const ModuleTree& tree, std::size_t module, std::vector<const Node*>& nodes) {
  nodes.insert(nodes.end(), tree.modules[module].nodes.begin(), tree.modules[module].nodes.end());
  for (const std::size_t child : tree.modules[module].children) collect(tree, child, nodes);
}

/// The data of the script in draw_page_script.cpp.
Json page_data(const Graph& graph, const DrawOptions& options) {
  const ModuleTree tree = module_tree(graph);
  std::vector<std::vector<const Node*>> boxes;
  for (const Node* node : graph.of_kind(NodeKind::operation)) boxes.push_back({node});
  std::vector<std::vector<const Node*>> of_modules(tree.modules.size());
  for (std::size_t i = 0; i < tree.modules.size(); ++i) {
    collect(tree, i, of_modules[i]);
    boxes.push_back(of_modules[i]);
  }
  // Only kinds give modules their own legend entries.
  const Colours colours(options.colouring, boxes);
  Json data = {{"depth", options.depth},
               {"modules", Json::array()},
               {"nodes", Json::array()},
               {"edges", Json::array()},
               {"legend", Json::array()}};
  for (std::size_t i = 0; i < tree.modules.size(); ++i) {
    const Module& module = tree.modules[i];
    const Colours::Fill fill = colours.of(of_modules[i]);
    data["modules"].push_back({{"label", module.label},
                               {"path", module.path},
                               {"parent", module.parent},
                               {"depth", module.depth},
                               {"fill", fill.colour},
                               {"fact", fill.value_text}});
  }
  std::map<const Node*, std::size_t> places;
  const auto add = [&](const Node& node, const std::string& kind, std::size_t module,
                       const Colours::Fill& fill) {
    places[&node] = data["nodes"].size();
    data["nodes"].push_back({{"name", node.name()},
                             {"kind", kind},
                             {"module", module},
                             {"fill", fill.colour},
                             {"fact", fill.value_text},
                             {"mark", mark_of(node, options)},
                             {"attributes", attribute_text(node)},
                             {"parameters", parameters_of(node)},
                             {"types", types_of(node)}});
  };
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) continue;
    const Node* const one[] = {node.get()};
    if (node->kind() == NodeKind::input)
      add(*node, "input", 0, {"#ffffff", ""});
    else
      add(*node, std::string(node->op().name), tree.module_of.at(node.get()), colours.of(one));
    for (const Value& input : node->inputs())
      if (input.node->kind() != NodeKind::parameter)
        data["edges"].push_back(
            {places.at(input.node), places.at(node.get()), to_string(input.type())});
  }
  for (const auto& [name, value] : graph.outputs()) {
    data["edges"].push_back({places.at(value.node), data["nodes"].size(), to_string(value.type())});
    data["nodes"].push_back({{"name", name},
                             {"kind", "output"},
                             {"module", 0},
                             {"fill", "#ffffff"},
                             {"fact", ""},
                             {"mark", ""},
                             {"attributes", ""},
                             {"parameters", Json::array()},
                             {"types", {to_string(value.type())}}});
  }
  for (const Colours::Entry& entry : colours.legend())
    data["legend"].push_back({entry.label, entry.colour});
  return data;
}

}  // namespace

std::string drawing_page(const Graph& graph, const DrawOptions& options) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1>\n"
      "<input id=\"search\" type=\"search\" placeholder=\"Search names (/)\" "
      "aria-label=\"Search names\"><output id=\"found\"></output>\n"
      "<button id=\"fit\" title=\"Show all (0)\">Fit</button>"
      "<button id=\"in\" title=\"Zoom in (+)\" aria-label=\"Zoom in\">+</button>"
      "<button id=\"out\" title=\"Zoom out (-)\" aria-label=\"Zoom out\">−</button>"
      "<button id=\"fold\">Fold all</button><button id=\"unfold\">Open all</button>\n"
      "<div id=\"legend\"><b>{2}</b></div></header>\n"
      "<main><svg id=\"canvas\" role=\"img\" aria-label=\"{0}\"></svg>"
      "<aside id=\"facts\" hidden></aside></main>\n"
      "<noscript><p>This drawing needs scripts; <code>hone draw MODEL -o graph.svg</code> makes "
      "one "
      "that does not.</p></noscript>\n"
      "<script type=\"application/json\" id=\"data\">{3}</script>\n<script>{4}</script>\n"
      "</body>\n</html>\n",
      html_text(options.title), draw_page_style(), html_text(options.colouring.legend),
      script_data(page_data(graph, options)), draw_page_script());
}

}  // namespace hone
