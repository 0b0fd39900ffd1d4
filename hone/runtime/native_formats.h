#pragma once

#include "hone/formats/format.h"
#include "hone/runtime/kernel.h"

/// Which formats of weights and inputs fit each other, so that products compute with their codes: the one place that knows formats by
/// name.
namespace hone {

/// Whether inputs in a format are whole numbers of at most a byte with one scale for each row, or one for all.
bool is_int_of_rows(const Format& format);

// Of nodes: "" where they are so, else why not.

/// The codes of the inputs of such a `native_linear` or `native_linear_codes` are summed up.
std::string_view sums_of_codes(const CallSite& site);
/// Both operands of such a `native_linear` are signs.
std::string_view are_binary(const CallSite& site);
/// Both are bfloat16.
std::string_view are_bfloat16(const CallSite& site);
/// Products sum the codes that such an `encode_rows` makes.
std::string_view has_fast_codes(const CallSite& site);

/// Where the scales of rounded inputs come from.
enum class InputScales : std::uint8_t {
  dynamic,    ///< from the values, each time
  calibrated  ///< one for all of them, from texts beforehand
};

/// Why there is no format of inputs with which products of weights in `weight` are of codes; "" where there is one.
std::string native_objection(const Format& weight, InputScales scales = InputScales::dynamic);

/// That format: `int` per token and dynamic for `int`, or per tensor where scales are calibrated; `mxint` in the same blocks for
/// formats in blocks, and for `int` in groups of as many; `bf16` for itself. Those two have no calibrated scales. Throws `UserError`
/// where there is an objection.
Format native_input(const Format& weight, const FormatTable& formats,
                    InputScales scales = InputScales::dynamic);

}  // namespace hone
