#pragma once

#include "hone/ir/op.h"

namespace hone {

/// The operations of this library. A program adds its own to the table it gets:
/// `ops.emplace("swish", swish())`.
OpTable builtin_ops();

/// The types of the state tensors that `quantize(x; format)` takes after x. Throws `UserError` when
/// the format keeps state per row and the rows of x are not fixed.
std::vector<Type> state_types(const Format& format, const Type& x);

/// The type of the rows of codes that `encode_rows` makes of x. Throws `UserError` for a format that has none
/// (hone/formats/coded_rows.h).
Type coded_rows_type(const Format& format, const Type& x);

}  // namespace hone
