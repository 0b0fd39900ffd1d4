#include "hone/runtime/plugin.h"

// A format with the name of a built-in one.
HONE_PLUGIN(library) {
  hone::FormatDef def{};
  def.name = "integer";
  library.formats.emplace(def.name, def);
}
