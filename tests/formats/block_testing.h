#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/format.h"

/// Helpers for the tests of formats with one scale per block.
namespace hone::testing {

/// Returns values whose magnitudes differ little within a run of `run` values, and by up to 2^±`spread` between runs.
/// Contains ties of small grids, values next to powers of two, zeros and runs of zeros. No NaN and no infinity.
std::vector<float> values_in_runs(std::size_t count, int run, int spread);
/// Covers the whole range of floats, with some NaN and infinities.
std::vector<float> any_values_in_runs(std::size_t count, int run);

/// Runs `check_fast` for shapes of one to three dimensions, with and without a partial last block. One shape has an
/// axis of length 0, and one has enough values for several threads.
void check_fast_in_blocks(std::string_view format, int block);

/// Checks that `axis=-1` on the transposed tensor gives the same values as `axis=0`.
void check_axis(std::string_view format);

/// Parses floats from the hexadecimal bits in a list of vectors ("3f800000", "nan").
std::vector<float> floats_of_bits(const std::vector<std::string>& bits);

}  // namespace hone::testing
