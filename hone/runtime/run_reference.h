#pragma once

#include "hone/ir/call.h"

namespace hone {

/// Whether values of this type are halves: bf16 or f16.
bool is_half(DType dtype);

/// Runs an operation's reference, which knows values of fp32 alone: bf16 and f16 are widened in front of it, and what it gives
/// is rounded to them behind it.
void run_reference(Call& call);

}  // namespace hone
