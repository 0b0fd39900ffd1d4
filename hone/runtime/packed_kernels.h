#pragma once

#include "hone/formats/format.h"
#include "hone/runtime/kernel.h"

namespace hone {

/// The CPU kernels that read packed weights. Those that sum codes instead of values, for which weight and input must have
/// formats that fit each other, are the one place that knows formats by name.
KernelTable packed_kernels();

/// Whether inputs in a format are whole numbers of at most a byte with one scale for each row, or one for all.
bool is_int_of_rows(const Format& format);

/// Why codes of the inputs of such a `native_linear` or `native_linear_codes` are not summed up; "" where they may be.
std::string_view sums_of_codes(const CallSite& site);

/// Where the scales of rounded inputs come from.
enum class InputScales : std::uint8_t {
  dynamic,    ///< from the values, each time
  calibrated  ///< one for all of them, from texts beforehand
};

/// Why there is no format of inputs with which products of weights in `weight` are of codes; "" where there is one.
std::string native_objection(const Format& weight, InputScales scales = InputScales::dynamic);

/// That format: `int` per token and dynamic for `int`, or per tensor where scales are calibrated; `mxint` in the same blocks for
/// formats in blocks, and for `int` in groups of as many; `bf16` for itself. Those two have no calibrated scales. Throws `UserError` where there is an objection.
Format native_input(const Format& weight, const FormatTable& formats,
                    InputScales scales = InputScales::dynamic);

}  // namespace hone
