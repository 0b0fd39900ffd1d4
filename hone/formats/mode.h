#pragma once

#include "hone/formats/format.h"

namespace hone {

/// The parameter of formats that the Python project MASE has too: `fixed`, the default, is what a
/// correct implementation does; `mase` gives the bits of that project, defects included, so that
/// published curves can be compared.
inline FormatParameterDef mode_parameter() {
  return {.name = "mode", .summary = "correct, or as MASE rounds", .words = {"fixed", "mase"}};
}

inline bool is_mase(const Format& format) { return format.is("mode", "mase"); }

}  // namespace hone
