#include "hone/passes/keep_outputs.h"

#include "hone/base/text.h"

#include "hone/passes/dead_code.h"

namespace hone {

bool keep_outputs(Graph& graph, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, Value>> kept;
  for (const std::string& name : names) {
    const Value value = graph.output(name);
    user_check(static_cast<bool>(value), "the graph has no output '{}'", name);
    kept.emplace_back(name, value);
  }
  bool changed = graph.outputs() != kept;
  graph.clear_outputs();
  for (const auto& [name, value] : kept) graph.set_output(name, value);
  changed = remove_dead_code(graph) || changed;
  for (Node* input : graph.of_kind(NodeKind::input)) {
    if (!input->users().empty() || graph.is_output(*input)) continue;
    graph.erase(*input);
    changed = true;
  }
  return changed;
}

PassDef keep_outputs_pass() {
  return {.name = "keep_outputs",
          .summary = "remove all other outputs and what only they depend on",
          .options = {{"names", "outputs to keep, separated by commas", std::string(), true}},
          .example = "names=logits",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
            return keep_outputs(graph, split(options.get<std::string>("names"), ','));
          }};
}

}  // namespace hone
