#include "hone/passes/count_operations.h"

#include <fmt/ranges.h>

#include "hone/base/text.h"

namespace hone {
namespace {

std::vector<PassOptionDef> choice_of_operations() {
  return {{"kind", "kind of operation as named in graphs, such as dropout", std::string(), true},
          {"names", "glob over names of operations", std::string("*")}};
}

std::vector<PassOptionDef> erase_options() {
  std::vector<PassOptionDef> options = choice_of_operations();
  options.push_back(
      {"bypass", "connect users to the first input, which must have the same type", false});
  return options;
}

std::vector<Node*> chosen(const Graph& graph, const Attributes& options) {
  const auto& names = options.get<std::string>("names");
  std::vector<Node*> found;
  for (Node* operation : graph.operations(options.get<std::string>("kind")))
    if (glob_match(names, operation->name())) found.push_back(operation);
  return found;
}

Attributes count_operations(const Graph& graph, const Attributes& options) {
  std::vector<std::string> names;
  for (const Node* operation : chosen(graph, options)) names.push_back(operation->name());
  return {
      {"operations", static_cast<std::int64_t>(names.size())},
      {"names", names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "))}};
}

// Redirects readers to the first input.
void bypass(Graph& graph, Node& operation) {
  const Value first = operation.input(0);
  const bool fits = operation.types().size() == 1 && first.type() == operation.types()[0];
  user_check(fits, "%{} computes {} from {}, so its first input cannot replace it",
             operation.name(), to_string(operation.types()[0]), to_string(first.type()));
  graph.replace_uses(operation.result(), first);
}

// Erases an operation, and random keys, constants and parameters that nothing else reads.
void erase_with_inputs(Graph& graph, Node& operation) {
  const std::vector<Value> inputs = operation.inputs();
  graph.erase(operation);
  for (const Value& input : inputs)
    if (input.node->kind() != NodeKind::operation && graph.find(input.node->name()) != nullptr &&
        !graph.is_read(*input.node))
      graph.erase(*input.node);
}

// Erases in reverse order, so that an operation can be erased together with its readers.
bool erase_operations(Graph& graph, const Attributes& options) {
  const std::vector<Node*> operations = chosen(graph, options);
  user_check(!operations.empty(), "no operation {} matches '{}'; `hone inspect` lists them",
             options.get<std::string>("kind"), options.get<std::string>("names"));
  for (auto operation = operations.rbegin(); operation != operations.rend(); ++operation) {
    if (options.get<bool>("bypass")) bypass(graph, **operation);
    erase_with_inputs(graph, **operation);
  }
  return true;
}

}  // namespace

PassDef count_operations_pass() {
  return {.name = "count_operations",
          .summary = "count the operations of a kind",
          .options = choice_of_operations(),
          .example = "kind=dropout",
          .analyze = [](const Graph& graph, const ParameterStore&, const Attributes& options) {
            return count_operations(graph, options);
          }};
}

PassDef erase_operations_pass() {
  return {.name = "erase_operations",
          .summary = "erase operations; those with users are bypassed or refused",
          .options = erase_options(),
          .example = "kind=gelu names=*.0.* bypass=true",
          .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
            return erase_operations(graph, options);
          }};
}

}  // namespace hone
