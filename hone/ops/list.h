#pragma once

#include "hone/ir/op.h"

namespace hone {

/// Returns the operations of this library. A program adds its own to the table: `ops.emplace("swish", swish())`.
OpTable builtin_ops();

/// Returns the types of the state tensors that `quantize(x; format)` takes after x. Throws `UserError` if the format
/// keeps state per row and the number of rows of x is not fixed.
std::vector<Type> state_types(const Format& format, const Type& x);

/// Returns the type of the rows of codes that `encode_rows` makes of x. Throws `UserError` for a format without such
/// codes (hone/formats/coded_rows.h).
Type coded_rows_type(const Format& format, const Type& x);

}  // namespace hone
