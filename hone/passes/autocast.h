#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Mixed precision (Micikevicius et al., 2018): products and attention read and give bf16 or f16, and so does what lies
/// between them element by element and row by row; weights are cast where they are read, so parameters, gains, losses, sums of losses and
/// updates stay f32. What operations read that are not of these is cast back. Gradients, taken behind it, are cast on the same
/// ways.
///
/// `codes`: so do products of codes (`native_linear`), and `encode_rows` reads them.
///
/// Requires a verified graph of f32 values. Throws `UserError` for another type than bf16 and f16. Returns whether anything changed.
bool autocast(Graph& graph, DType values, bool codes = false);

PassDef autocast_pass();

}  // namespace hone
