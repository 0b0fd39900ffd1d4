#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Operations that take part only where kernels compute them in halves: elsewhere they would be slower, and convolutions less exact.
struct AutocastParts {
  bool convolutions = false;  ///< and the norms and pooling between them
  bool codes = false;  ///< products of codes (`native_linear`), and `encode_rows`, which reads them
};

/// Mixed precision (Micikevicius et al., 2018): products and attention read and give bf16 or f16, and so does what lies
/// between them element by element, row by row and channel by channel; weights are cast where they are read, so parameters, gains,
/// statistics, losses, sums of losses and updates stay f32. What operations read that are not of these is cast back. Gradients, taken
/// behind it, are cast on the same ways.
///
/// Requires a verified graph of f32 values. Throws `UserError` for another type than bf16 and f16. Returns whether anything changed.
bool autocast(Graph& graph, DType values, const AutocastParts& parts = {});

PassDef autocast_pass();

}  // namespace hone
