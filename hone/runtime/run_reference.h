#pragma once

#include "hone/ir/call.h"

namespace hone {

/// Whether values of this type are halves: bf16 or f16.
bool is_half(DType dtype);

/// y, f32 of a half or a half of f32, = x, by all threads. Both are contiguous and on the host; rounding is to nearest, ties to even.
void convert_halves(ThreadPool& pool, const Tensor& x, Tensor& y);

/// Runs a kernel of the host that knows values of fp32 alone: bf16 and f16 are widened in front of it, and what it gives is rounded
/// to them behind it. Views stay views, whatever their elements are.
void run_widened(Call& call, void (*kernel)(Call&));

/// Runs an operation's reference, widened where there are halves.
void run_reference(Call& call);

}  // namespace hone
