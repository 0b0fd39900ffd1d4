#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/formats/format.h"

/// Helpers for the tests of all formats.
namespace hone::testing {

/// Returns the builtin formats and the added ones, one table for all of a test program.
const FormatTable& formats();
/// Adds a format from outside the library, such as one of a plugin.
void add_format(const FormatDef& def);
Format format_of(std::string_view text);

/// Returns whether the bits are equal or both values are NaN. Zeros of either sign are equal: no format guarantees the
/// sign.
bool same(float a, float b);

/// Quantizes with the reference, as a dense tensor of these sizes ({n} if empty).
std::vector<float> by_reference(std::string_view format, const std::vector<float>& x,
                                Sizes sizes = {}, const std::vector<Tensor>& state = {});
/// Quantizes with the fast kernel.
std::vector<float> fast(std::string_view format, const std::vector<float>& x, Sizes sizes = {},
                        const std::vector<Tensor>& state = {}, int threads = 1);

/// Returns magnitudes of both signs between 2^-low and 2^high, ties of small grids, and zeros. No NaN and no infinity.
std::vector<float> finite_values(std::size_t count, int low = 20, int high = 20);
/// Also contains NaN, infinities, the largest floats and subnormals.
std::vector<float> any_values(std::size_t count);

/// Returns the state that calibration chooses for x, per row if the format requires that.
std::vector<Tensor> calibrated_state(std::string_view format, const std::vector<float>& x,
                                     Sizes sizes = {});

/// Returns the error message of a format with state for a tensor of these values, or "".
std::string objection(std::string_view format, const std::vector<float>& seen);

/// Checks that reference and fast kernel reproduce the vectors of `name` in `mode` ("fixed", "mase"). `text_of` returns
/// our format for a vector's parameters, or "" if there is no equivalent. Returns the number of compared values.
int check_vectors(std::string_view name, std::string_view mode,
                  const std::function<std::string(const Json& parameters)>& text_of);

/// Properties of every format, unless its documentation says otherwise. `x` is a tensor of `sizes` without NaN and
/// infinities. Formats with state are calibrated on it.
void check_idempotent(std::string_view format, const std::vector<float>& x, Sizes sizes);
void check_odd(std::string_view format, const std::vector<float>& x, Sizes sizes);
/// For element-wise formats only.
void check_monotone(std::string_view format);
/// Checks that pack(encode(x)), unpacked and decoded, is quantize(x), and that it takes `average_bits` bits per value.
void check_packs(std::string_view format, const std::vector<float>& x, Sizes sizes);
/// Checks that reference and fast kernel give the same bits on every instruction set, for one and three threads, and in
/// place. `x` may contain any values.
void check_fast(std::string_view format, const std::vector<float>& x, Sizes sizes);

}  // namespace hone::testing
