// The same as passes for `hone`: `hone pass MODEL count_dropouts --plugin dropout_passes.so`.
#include "dropouts.h"
#include "hone/runtime/plugin.h"

namespace {

using namespace hone;

PassDef count_dropouts() {
  PassDef pass;
  pass.name = "count_dropouts";
  pass.summary = "count the dropouts, and those that are not of attention";
  pass.analyze = [](const Graph& graph, const ParameterStore&, const Attributes&) -> Attributes {
    return {{"dropouts", static_cast<std::int64_t>(graph.operations("dropout").size())},
            {"outside_attention", dropouts_outside_attention(graph)}};
  };
  return pass;
}

PassDef cut_dropouts() {
  PassDef pass;
  pass.name = "cut_dropouts";
  pass.summary = "replace dropouts by what they read";
  pass.options = {{"names", "glob of those that go", std::string("*")}};
  pass.example = "names=*.attention.*";
  pass.run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
    return remove_dropouts(graph, options.get<std::string>("names"));
  };
  return pass;
}

}  // namespace

HONE_PLUGIN(library) {
  for (const PassDef& pass : {count_dropouts(), cut_dropouts()})
    library.passes.emplace(pass.name, pass);
}
