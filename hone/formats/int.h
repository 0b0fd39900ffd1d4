#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Integers with a scale: y = clamp(round(x (1/s)), -Q, Q) s with Q = 2^(bits-1) - 1 and s = max|x| / Q, ties to even,
/// every operation in fp32. `range=affine` uses all 2^bits codes between the smallest and the largest value:
/// s = (max - min) / (2^bits - 1) and an integer zero point, so that 0 is exact.
///
/// The scale is per tensor, per row of a weight, or per row (token) of an activation. It comes from calibration
/// (static), from the tensor itself on every call (dynamic), or is learned with the weights (Esser et al., "Learned
/// step size quantization", 2020): it starts at 2 mean|x| / sqrt(Q), and gradients are zero for values outside the
/// clamp.
///
/// `group=G` gives every G neighbours along a row their own scale, computed from the tensor on every call and rounded
/// to float16 before codes are computed (to the nearest between 2^-24 and 65504). Symmetric ranges then use all codes:
/// s = x_m / -2^(bits-1), with x_m the signed value of the largest magnitude, the first of several, and
/// y = clamp(round(x (1/s)), -2^(bits-1), 2^(bits-1) - 1) s, as in GGUF's Q4_0 and ONNX Runtime's blocked int4. At 4
/// bits in groups of 32 that is 1.0 dB more accurate for normally distributed values than max|x| / Q. Affine ranges
/// have a zero point of `bits` bits, and their scales are rounded down, so that both ends have a code. Blocked
/// DequantizeLinear of ONNX and compressed-tensors (pack-quantized) represent both exactly. GGUF's Q4_0 represents
/// symmetric 4-bit groups of 32 exactly, and its Q4_1 affine ones up to the float16 rounding of its minimum.
///
/// NaN stays NaN, infinities saturate; scales depend only on finite values.
///
/// `mode=mase` is MASE's scale_integer, per row and dynamic: S = 2^(bits-1) (1 / (max|x| + 1e-9)) and
/// y = clamp(round(x S), -2^(bits-1), 2^(bits-1) - 1) / S. The largest positive value comes out too small, and a NaN or
/// an infinity makes its whole row NaN.
FormatDef int_format();

}  // namespace hone
