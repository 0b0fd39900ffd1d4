#include <stdexcept>

#include "hone/runtime/plugin.h"

// Passes with one mistake each.
namespace {

using namespace hone;

Node& first_linear(Graph& graph) { return *graph.operations("linear").front(); }

}  // namespace

HONE_PLUGIN(library) {
  const auto add = [&](std::string_view name,
                       bool (*run)(Graph&, ParameterStore&, const Attributes&, const Session&)) {
    PassDef def{};
    def.name = name;
    def.summary = "a mistake";
    def.run = run;
    library.passes.emplace(name, def);
  };
  add("erase_what_is_read", [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
    graph.erase(first_linear(graph));
    return true;
  });
  add("throw_anything", [](Graph&, ParameterStore&, const Attributes&, const Session&) -> bool {
    throw std::out_of_range("vector::at");
  });
  add("change_and_deny", [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
    graph.set_trainable(*graph.of_kind(NodeKind::parameter).front(), false);
    return false;
  });
}
