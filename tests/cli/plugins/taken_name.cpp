#include "hone/runtime/plugin.h"

// A format that would pass for one of the program's.
HONE_PLUGIN(library) {
  hone::FormatDef def{};
  def.name = "integer";
  library.formats.emplace(def.name, def);
}
