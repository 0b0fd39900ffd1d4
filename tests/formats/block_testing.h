#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/format.h"

/// What the tests of formats with a scale per block share.
namespace hone::testing {

/// Values whose magnitudes differ little within a run of `run` values, and by up to 2^±`spread`
/// between runs: ties of small grids, values next to powers of two, zeros, runs of zeros. No NaN
/// and no infinity.
std::vector<float> values_in_runs(std::size_t count, int run, int spread);
/// The same up to the ends of what floats hold, with some NaN and infinities.
std::vector<float> any_values_in_runs(std::size_t count, int run);

/// `check_fast` for shapes of one to three dimensions, with and without a rest in the last block,
/// an axis of length 0 among them, and with enough values for several threads.
void check_fast_in_blocks(std::string_view format, int block);

/// The format with `axis=-1` as text gives, on the transposed tensor, what it gives with `axis=0`.
void check_axis(std::string_view format);

/// Floats from the hexadecimal bits in a list of vectors ("3f800000", "nan").
std::vector<float> floats_of_bits(const std::vector<std::string>& bits);

}  // namespace hone::testing
