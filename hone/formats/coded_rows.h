#pragma once

#include <span>

#include "hone/formats/format.h"
#include "hone/kernels/int8_rows.h"

/// Rows quantized to int8 codes and scales, as integer products read them (kernels/int8_rows.h).
namespace hone {

/// Returns the layout of the rows of a tensor of these sizes. Throws `UserError` unless values are int8 numbers times a
/// scale per row, or times scales per block of 16 to 256 elements that differ by powers of two.
kernels::Int8Shape coded_rows_shape(const Format& format, const Sizes& sizes);

/// Encodes the values of the quantized `input` into `rows`, which has its shape, with plain loops. A row with a value
/// without a code becomes NaN. A block whose scale is below 2^-120 of the largest in its row counts as zero.
void encode_rows_reference(const QuantizerInput& input, const kernels::Int8Rows& rows);

/// y (M, K) = the values of the encoded rows.
void decode_rows(const kernels::Int8Rows& rows, std::span<float> y);

}  // namespace hone
