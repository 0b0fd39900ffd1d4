#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Operations that are cast only if kernels compute them in halves; otherwise they would be slower, and convolutions
/// less exact.
struct AutocastParts {
  bool convolutions = false;  ///< and the norms and pooling between them
  bool codes = false;  ///< products of codes (`native_linear`), and `encode_rows`, which reads them
};

/// Mixed precision (Micikevicius et al., 2018): products and attention read and return bf16 or f16, and so do
/// element-wise, row-wise and channel-wise operations between them. Weights are cast where they are read, so
/// parameters, gains, statistics, losses, sums of losses and updates stay f32. Inputs of all other operations are
/// cast back to f32. Gradients that are added afterwards follow the same casts.
///
/// Requires a verified graph of f32 values. Throws `UserError` for types other than bf16 and f16. Returns whether
/// anything changed.
bool autocast(Graph& graph, DType values, const AutocastParts& parts = {});

PassDef autocast_pass();

}  // namespace hone
