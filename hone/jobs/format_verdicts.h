#pragma once

#include <string>
#include <vector>

#include "hone/report/document.h"
#include "hone/study/format_search.h"

namespace hone {

/// What its format does to one operand of a layer, and what would do better.
struct OperandVerdict {
  OperandNoise noise = {};
  bool has_zero = true;  ///< the format has a code for 0
  /// The same format with the parameters that lose least at no more bits, and what it loses of a sample. None: it loses little as it is,
  /// or none are better.
  std::optional<Format> better = {};
  Noise noise_with_better = {};
};

/// What the formats of a model do to what its layers read, each operand alone, and why: biases aside, which are few.
struct FormatVerdicts {
  std::vector<std::string> layers;            ///< that had a choice of formats
  QuantizationPlan plan;                      ///< of those that took one
  std::vector<OperandVerdict> operands = {};  ///< the noisiest first
};

/// Measures over the training texts that calibration looks at, and looks for better parameters where not kept. `unrounded`: the model before its weights are rounded, with or without
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
/// A row for each operand: format, SNR, shares clipped and flushed, the smallest step against the spread of the values, whether there is
/// a code for 0, verdict, and what would do better. At most `most_rows`; 0: all.
Table operand_verdicts(const FormatVerdicts& verdicts, std::size_t most_rows);
/// Both for programs: {"formats", "operands"}.
Json to_json(const FormatVerdicts& verdicts);

}  // namespace hone
