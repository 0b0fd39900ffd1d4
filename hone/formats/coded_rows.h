#pragma once

#include <span>

#include "hone/formats/format.h"
#include "hone/kernels/int8_rows.h"

/// Rows rounded to a format as products of codes read them (kernels/int8_rows.h): a byte for every element, and scales.
namespace hone {

/// How the rows of a tensor of these sizes lie. Throws `UserError` for a format whose values are not whole numbers of a byte
/// times one scale for the row, or for blocks of 16 to 256 elements scales of which each is another by a power of two.
kernels::Int8Shape coded_rows_shape(const Format& format, const Sizes& sizes);

/// `rows`, of the shape of `input`, become the values that `x` takes, by plain loops. A row with a value that has no code is
/// NaN; a block whose scale is below 2^-120 of the largest of its row counts as zero.
void encode_rows_reference(const QuantizerInput& input, const kernels::Int8Rows& rows);

/// y (M, K) = the values that rows stand for.
void decode_rows(const kernels::Int8Rows& rows, std::span<float> y);

}  // namespace hone
