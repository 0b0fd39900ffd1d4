#pragma once

#include "hone/formats/format.h"
#include "hone/runtime/kernel.h"

/// Compatibility of the formats of weights and inputs in products that compute with codes: the one place that knows
/// formats by name.
namespace hone {

/// Returns whether inputs in a format are integers of at most a byte with one scale per row, or one for all.
bool is_int_of_rows(const Format& format);

// Predicates of nodes: "" if they hold, else why not.

/// The `native_linear` or `native_linear_codes` multiplies and sums integer codes.
std::string_view sums_of_codes(const CallSite& site);
/// Both operands of the `native_linear` are signs.
std::string_view are_binary(const CallSite& site);
/// Both operands are bfloat16.
std::string_view are_bfloat16(const CallSite& site);
/// Products can sum the codes that the `encode_rows` makes.
std::string_view has_fast_codes(const CallSite& site);

/// Where the scales of rounded inputs come from.
enum class InputScales : std::uint8_t {
  dynamic,    ///< from the values, each time
  calibrated  ///< one for all of them, from calibration
};

/// Returns why no input format lets products compute with the codes of weights in `weight`; "" if there is one.
std::string native_unsupported_reason(const Format& weight,
                                      InputScales scales = InputScales::dynamic);

/// Returns that format: for `int`, `int` per token and dynamic, or per tensor if scales are calibrated; for formats
/// in blocks, and `int` in groups, `mxint` in blocks of the same size; for `bf16`, itself. The latter two have no
/// calibrated scales. Throws `UserError` if there is an objection.
Format native_input(const Format& weight, const FormatTable& formats,
                    InputScales scales = InputScales::dynamic);

}  // namespace hone
