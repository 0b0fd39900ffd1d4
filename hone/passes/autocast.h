#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Mixed precision (Micikevicius et al., 2018): products and attention read and give bf16 or f16, and so does what lies
/// between them element by element, row by row and channel by channel; weights are cast where they are read, so parameters, gains,
/// statistics, losses, sums of losses and updates stay f32. What operations read that are not of these is cast back. Gradients, taken
/// behind it, are cast on the same ways. Convolutions take part only with `convolutions`: without kernels for halves they would be
/// slower, and less exact.
///
/// Requires a verified graph of f32 values. Throws `UserError` for another type than bf16 and f16. Returns whether anything changed.
bool autocast(Graph& graph, DType values, bool convolutions = false);

PassDef autocast_pass();

}  // namespace hone
