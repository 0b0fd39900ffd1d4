#pragma once

#include "hone/formats/format.h"

namespace hone {

/// The parameter of formats that the Python project MASE also has. `fixed`, the default, is correct rounding. `mase`
/// reproduces MASE bit for bit, including its defects, so that published curves can be compared.
inline FormatParameterDef mode_parameter() {
  return {.name = "mode", .summary = "correct, or as MASE rounds", .words = {"fixed", "mase"}};
}

inline bool is_mase(const Format& format) { return format.is("mode", "mase"); }

}  // namespace hone
