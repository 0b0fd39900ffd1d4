#include "hone/passes/freeze.h"

#include "hone/base/text.h"

namespace hone {

bool freeze(Graph& graph, const std::vector<std::string>& globs) {
  bool changed = false;
  for (const std::string& glob : globs) {
    bool matched = false;
    for (Node* parameter : graph.of_kind(NodeKind::parameter)) {
      if (!glob_match(glob, parameter->name())) continue;
      matched = true;
      changed = changed || parameter->trainable();
      graph.set_trainable(*parameter, false);
    }
    user_check(matched, "no parameter matches '{}' of `freeze`; `hone inspect` lists them", glob);
  }
  return changed;
}

PassDef freeze_pass() {
  return {.name = "freeze",
          .summary = "exclude parameters from training",
          .options = {{"names", "globs over names of parameters, separated by commas",
                       std::string(), true}},
          .example = "names=bert.embeddings.*",
          .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
            return freeze(graph, split(options.get<std::string>("names"), ','));
          }};
}

}  // namespace hone
