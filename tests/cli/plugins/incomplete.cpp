#include "hone/runtime/plugin.h"

// A format that lacks most of its functions.
HONE_PLUGIN(library) {
  hone::FormatDef def{};
  def.name = "sketch";
  def.layout = [](const hone::Format&, const hone::Sizes&) { return hone::CodeLayout{8}; };
  library.formats.emplace(def.name, def);
}
