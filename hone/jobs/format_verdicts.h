#pragma once

#include <string>
#include <vector>

#include "hone/report/page.h"
#include "hone/study/sensitivity.h"

namespace hone {

/// What the formats of a model do to what its layers read, each operand alone, and why: biases aside, which are few.
struct FormatVerdicts {
  std::vector<std::string> layers;  ///< that had a choice of formats
  QuantizationPlan plan;            ///< of those that took one
  std::vector<OperandNoise> noise = {};
};

/// Measures over the training texts that calibration looks at. `unrounded`: the model before its weights are rounded, with or without
/// quantizers.
FormatVerdicts judge_formats(const Model& unrounded, std::vector<std::string> layers,
                             const QuantizationPlan& plan, const EncodedSet& training_texts,
                             const CalibrationRun& run, Context& context);

/// What becomes of an operand, in a word or two: "exact"; "kept", 20 dB or more are left; else "clipped", where at least one of a thousand
/// values lies beyond the format's ends and more than become zero; "flushed to zero", where one of a hundred does; "coarse".
std::string verdict_of(const Noise& noise);

/// How many layers took which formats, and what that did to their weights and inputs: mean SNR, shares clipped and
/// flushed to zero, how many operands were kept and what became of the others.
Table formats_taken(const FormatVerdicts& verdicts);
/// A row for each operand, the noisiest first: format, SNR, shares clipped and flushed, the smallest step against the spread of the
/// values, verdict. At most `most_rows`; 0: all.
Table operand_verdicts(const FormatVerdicts& verdicts, std::size_t most_rows);

}  // namespace hone
