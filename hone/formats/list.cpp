#include "hone/formats/integer.h"

namespace hone {

FormatTable builtin_formats() {
  FormatTable table;
  for (FormatDef def : {integer_format()}) table.emplace(def.name, def);
  return table;
}

}  // namespace hone
