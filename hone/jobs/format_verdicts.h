#pragma once

#include <string>
#include <vector>

#include "hone/report/document.h"
#include "hone/study/format_search.h"

namespace hone {

/// The error of one operand's format, and a better one.
struct OperandVerdict {
  OperandNoise noise = {};
  bool has_zero = true;  ///< whether the format has a code for 0
  /// The same format with the parameters that lose least on a sample at no more bits, and its noise on the same values
  /// as `noise`. Empty if the operand loses little, or if they gain nothing on these values.
  std::optional<Format> better = {};
  Noise noise_with_better = {};
};

/// The errors of a model's formats, each operand alone, without biases.
struct FormatVerdicts {
  std::vector<std::string> layers;            ///< that could be quantized
  QuantizationPlan plan;                      ///< of those that were
  std::vector<OperandVerdict> operands = {};  ///< the noisiest first
};

/// Measures the errors over the training examples used for calibration, and searches better parameters for operands
/// that are not accurate. `unrounded`: the model before its weights are rounded, with or without quantizers.
FormatVerdicts judge_formats(const Model& unrounded, std::vector<std::string> layers,
                             const QuantizationPlan& plan, const EncodedSet& training_texts,
                             const CalibrationRun& run, Context& context);

/// The verdict on an operand. exact: no error; accurate: an SNR of 20 dB or more; otherwise clipped: at least 0.1% of
/// the values are beyond the format's range, and more than become zero; flushed to zero: at least 1% become zero;
/// coarse: all others.
enum class NoiseVerdict : std::uint8_t { exact, accurate, clipped, flushed, coarse };
std::span<const EnumName> enum_names(NoiseVerdict);
NoiseVerdict verdict_of(const Noise& noise);

/// The layers with one format, and the errors of their weights or inputs.
struct LayersInFormat {
  std::string format;
  std::int64_t layers = 0;
  std::optional<std::string> operand = {};  ///< "weights" or "inputs"
  std::optional<double> snr_db = {}, clipped = {}, flushed = {};
  std::string verdict;  ///< number of operands with each verdict
};
const Fields& fields_of(const LayersInFormat*);

struct OperandVerdictResult {
  OperandResult operand;
  bool zero_code = true;
  NoiseVerdict verdict = NoiseVerdict::exact;
};
const Fields& fields_of(const OperandVerdictResult*);

/// The verdicts as JSON.
struct FormatVerdictsResult {
  std::vector<LayersInFormat> formats;
  std::vector<OperandVerdictResult> operands = {};
};
const Fields& fields_of(const FormatVerdictsResult*);
FormatVerdictsResult format_verdicts_result(const FormatVerdicts& verdicts);

/// Returns the formats of the layers with counts, and the errors of their weights and inputs: mean SNR, shares clipped
/// and flushed to zero, and the verdicts.
Table formats_table(const FormatVerdicts& verdicts);
/// Returns a row for each operand: format, SNR, shares clipped and flushed, the smallest step relative to the spread of
/// the values, whether there is a code for 0, verdict, and the better format. At most `most_rows`; 0: all.
Table operand_verdict_table(const FormatVerdicts& verdicts, std::size_t most_rows);
}  // namespace hone
