#pragma once

#include "hone/formats/format.h"

/// `int` with `group`: integers that share a scale in groups of neighbours along a row. These are the functions of its
/// record (`FormatDef`); `int_format` describes what they compute.
namespace hone::int_groups {

CodeLayout layout(const Format& format, const Sizes& sizes);
void quantize_reference(const QuantizerInput& input, std::span<float> y);
void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y);
/// Throws `UserError` for NaN.
Codes encode(const QuantizerInput& input);
void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y);
std::optional<CodeUnits> units(const QuantizerInput& input);

}  // namespace hone::int_groups
