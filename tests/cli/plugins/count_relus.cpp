#include "hone/runtime/plugin.h"

// An additional pass.
HONE_PLUGIN(library) {
  hone::PassDef def{};
  def.name = "count_relus";
  def.summary = "count, and change nothing";
  def.options = {{"most", "refuse more than these", std::int64_t{12}}};
  def.run = [](hone::Graph&, hone::ParameterStore&, const hone::Attributes&, const hone::Session&) {
    return false;
  };
  library.passes.emplace(def.name, def);
}
