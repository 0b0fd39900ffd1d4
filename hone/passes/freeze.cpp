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
    user_check(matched, "freeze: no parameter matches '{}'; `hone inspect` lists them", glob);
  }
  return changed;
}

}  // namespace hone
