#pragma once

#include "hone/ir/call.h"

namespace hone {

/// Returns whether a type is a half: bf16 or f16.
bool is_half(DType dtype);

/// Converts x to y on all threads, from a half to f32 or back. Both are contiguous and on the host; rounding is to
/// nearest, ties to even.
void convert_halves(ThreadPool& pool, const Tensor& x, Tensor& y);

/// Runs a host kernel that supports only f32: bf16 and f16 inputs are widened before it, and its results are rounded
/// after it. Views are passed through, whatever their type.
void run_widened(Call& call, void (*kernel)(Call&));

/// Runs an operation's reference, through `run_widened` if there are halves.
void run_reference(Call& call);

}  // namespace hone
