#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/formats/format.h"

/// What the tests of all formats share.
namespace hone::testing {

/// The builtin formats and those that were added, one table for all of a test program.
const FormatTable& formats();
/// Adds a format from outside the library, such as a plugin's.
void add_format(const FormatDef& def);
Format format_of(std::string_view text);

/// Equal bits, or both NaN. Zeros of either sign are the same number: no format promises the sign.
bool same(float a, float b);

/// Quantized by the reference, a dense tensor of these sizes ({n} when none are given).
std::vector<float> by_reference(std::string_view format, const std::vector<float>& x,
                                Sizes sizes = {}, const std::vector<Tensor>& state = {});
/// Quantized by the fast kernel.
std::vector<float> fast(std::string_view format, const std::vector<float>& x, Sizes sizes = {},
                        const std::vector<Tensor>& state = {}, int threads = 1);

/// All magnitudes of both signs between 2^-low and 2^high, ties of small grids, zeros. No NaN and
/// no infinity.
std::vector<float> finite_values(std::size_t count, int low = 20, int high = 20);
/// The same among NaN, infinities, the largest floats and subnormals.
std::vector<float> any_values(std::size_t count);

/// The state that calibration chooses for x, per row where the format asks for it.
std::vector<Tensor> calibrated_state(std::string_view format, const std::vector<float>& x,
                                     Sizes sizes = {});

/// What a format with state objects to a tensor of these values; "" when nothing.
std::string objection(std::string_view format, const std::vector<float>& seen);

/// Checks that the vectors of `name` in `mode` ("fixed", "mase") come out of reference and fast
/// kernel. `text_of` gives our format for a vector's parameters, or "" for what the format has no
/// counterpart of. Returns how many values were compared.
int check_vectors(std::string_view name, std::string_view mode,
                  const std::function<std::string(const Json& parameters)>& text_of);

/// Properties every format has unless it says otherwise. `x` is a tensor of `sizes` without NaN and
/// infinities; formats with state are calibrated on it.
void check_idempotent(std::string_view format, const std::vector<float>& x, Sizes sizes);
void check_odd(std::string_view format, const std::vector<float>& x, Sizes sizes);
/// Element-wise formats only.
void check_monotone(std::string_view format);
/// pack(encode(x)) unpacked and decoded is quantize(x), and takes the bits that `average_bits` says.
void check_packs(std::string_view format, const std::vector<float>& x, Sizes sizes);
/// Reference and fast kernel give the same bits on every instruction set, for one and three threads
/// and in place. `x` may hold anything.
void check_fast(std::string_view format, const std::vector<float>& x, Sizes sizes);

}  // namespace hone::testing
