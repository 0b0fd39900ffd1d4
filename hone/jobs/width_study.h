#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_result.h"

namespace hone {

/// A fixed-point format of the study.
struct FixedPointWidth {
  std::int64_t width = 0;  ///< total number of bits
  std::int64_t frac = 0;   ///< fraction bits
};

/// Returns "8.4".
std::string to_string(const FixedPointWidth& width);

struct WidthStudyOptions {
  std::vector<FixedPointWidth> widths = {{6, 3}, {8, 4}, {12, 6}, {16, 8}, {24, 12}, {32, 16}};
  FineTuneOptions qat;  ///< how each width is trained
  /// Checkpoint options of the training with this name ("qat-8.4"); empty: no checkpoints.
  std::function<CheckpointOptions(const std::string&)> checkpoints_of = {};
};

struct WidthResult {
  FixedPointWidth width;
  ComparedModel ptq, qat;  ///< with their verdicts
};

struct WidthStudy {
  Choice choice;
  std::vector<WidthResult> results;  ///< on the split that decides, in the order of the options
  /// The narrowest width that is within the limit, as all wider ones are, for PTQ and for QAT: indices of `results`.
  std::optional<std::size_t> narrowest_ptq, narrowest_qat;
};

/// Quantizes the baseline to every width by PTQ and by QAT, and evaluates each on the split that decides. From the
/// widest down, the verdicts stop at the first that is not within the limit (`verdicts_in_sequence`). The chosen ones
/// are measured once on `data.test`. Throws `UserError` if there is no split to choose on.
WidthStudy study_widths(const Model& baseline, const EncodedSplits& data,
                        const WidthStudyOptions& options, Context& context);

/// Returns the baseline, then PTQ and QAT of every width.
std::vector<ComparedModel> compared_models(const WidthStudy& study);
/// Returns the baseline and the narrowest width within the limit, for PTQ and for QAT (see `chosen_evaluations` of a
/// choice).
std::vector<NamedEvaluation> chosen_evaluations(const WidthStudy& study);
Table width_table(const WidthStudy& study);

/// Says from which width on accuracy is within the limit, by PTQ and by QAT, with the change there, the split and the
/// number of examples.
std::string width_verdict(const WidthStudy& study);
/// Describes the results of the chosen widths on the reported split, or why the widest is not within the limit.
std::vector<std::string> width_findings(const WidthStudy& study);

/// Sets headline, key figures, evidence and the section with the tables. The figure of accuracy and flips against
/// width, one curve each for PTQ and QAT, is also drawn as `stem`.svg and .png. A figure that cannot be drawn adds a
/// note to `notes`.
void fill_document(const WidthStudy& study, const fs::path& stem, Document& document,
                   std::vector<std::string>& notes);

}  // namespace hone
