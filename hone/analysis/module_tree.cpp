#include "hone/analysis/module_tree.h"

#include <algorithm>

#include "hone/base/text.h"

namespace hone {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// For "a.b.0": "a", "a.b.0". Returns every prefix that may be a module, including the name itself; a prefix followed by
// a number is left out.
std::vector<std::string> prefixes(const std::string& name) {
  std::vector<std::string> result;
  std::string path;
  for (const std::string& word : split(name, '.')) {
    path += path.empty() ? word : "." + word;
    if (is_digits(word) && !result.empty()) result.pop_back();
    result.push_back(path);
  }
  return result;
}

}  // namespace

ModuleTree module_tree(const Graph& graph) {
  const std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
  std::map<std::string, std::int64_t> sharing;
  for (const Node* node : operations)
    for (const std::string& prefix : prefixes(node->name())) ++sharing[prefix];
  ModuleTree tree;
  tree.modules.emplace_back();
  std::map<std::string, std::size_t> known;
  for (const Node* node : operations) {
    std::size_t module = 0;
    for (const std::string& prefix : prefixes(node->name())) {
      const bool numbered =
          prefix != node->name() && is_digits(prefix.substr(prefix.rfind('.') + 1));
      if (sharing[prefix] < 2 && !numbered) continue;
      const auto [place, is_new] = known.emplace(prefix, tree.modules.size());
      if (is_new) {
        const Module& parent = tree.modules[module];
        tree.modules.push_back(
            {.path = prefix,
             .label = parent.path.empty() ? prefix : prefix.substr(parent.path.size() + 1),
             .parent = module,
             .depth = parent.depth + 1,
             .children = {},
             .nodes = {}});
        tree.modules[module].children.push_back(place->second);
      }
      module = place->second;
    }
    tree.modules[module].nodes.push_back(node);
    tree.module_of[node] = module;
  }
  return tree;
}

}  // namespace hone
