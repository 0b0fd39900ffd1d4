#include "hone/passes/trim_vocabulary.h"

#include <algorithm>

#include "hone/passes/quantize.h"
#include "hone/passes/rebuild.h"

namespace hone {
namespace {

// Returns the parameter of a value, with or without a quantizer; null for anything else.
Node* parameter_of(Value value) {
  Node* node = value.node;
  if (node->kind() == NodeKind::operation && is_quantizer(*node)) node = node->inputs()[0].node;
  return node->kind() == NodeKind::parameter ? node : nullptr;
}

void check_padding(const Graph& graph, std::int64_t rows) {
  for (const Node* user : graph.find(kTokens)->users()) {
    const Attribute* padding = user->attributes().find("padding");
    if (padding == nullptr || !std::holds_alternative<std::int64_t>(*padding)) continue;
    user_check(std::get<std::int64_t>(*padding) < rows,
               "rows: %{} has padding in row {}, which is not among the first {} rows",
               user->name(), std::get<std::int64_t>(*padding), rows);
  }
}

}  // namespace

std::vector<Node*> token_tables(const Graph& graph) {
  const Node* tokens = graph.find(kTokens);
  user_check(tokens != nullptr, "the graph has no input '{}', whose vocabulary could be trimmed",
             kTokens);
  std::vector<Node*> tables;
  for (const Node* user : tokens->users()) {
    for (std::size_t i = 0; i < user->inputs().size(); ++i) {
      if (operand_role(*user, i) != OperandRole::weight) continue;
      Node* table = parameter_of(user->inputs()[i]);
      user_check(table != nullptr,
                 "%{}: it reads its table through %{}; trim the vocabulary of the model without "
                 "that operation",
                 user->name(), user->inputs()[i].node->name());
      if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
    }
  }
  user_check(!tables.empty(), "no embedding table is indexed by '{}'", kTokens);
  return tables;
}

bool trim_vocabulary(Graph& graph, ParameterStore& parameters, std::int64_t rows) {
  GraphChanges changes;
  for (const Node* table : token_tables(graph)) {
    Type type = table->types()[0];
    user_check(rows >= 1 && rows <= type.dim(0).size,
               "rows: expected 1 to {}, the rows of {}, got {}", type.dim(0).size, table->name(),
               rows);
    if (Dim(rows) == type.dim(0)) continue;
    type.shape[0] = rows;
    changes.types.emplace(table->name(), type);
  }
  if (changes.types.empty()) return false;
  check_padding(graph, rows);
  graph = rebuilt(graph, changes);
  for (const auto& [name, type] : changes.types)
    if (parameters.contains(name))
      parameters.set(name, parameters.at(name).slice(0, 0, rows).contiguous_copy());
  return true;
}

PassDef trim_vocabulary_pass() {
  return {.name = "trim_vocabulary",
          .summary = "keep the first rows of the token embeddings; `hone trim` chooses the tokens",
          .options = {{"rows", "rows to keep", std::int64_t{0}, true}},
          .example = "rows=8000",
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                    const Session&) {
            return trim_vocabulary(graph, parameters, options.get<std::int64_t>("rows"));
          }};
}

}  // namespace hone
