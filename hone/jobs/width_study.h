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
  std::int64_t width = 0;  ///< bits in all
  std::int64_t frac = 0;   ///< bits behind the binary point
};

struct WidthStudyOptions {
  std::vector<FixedPointWidth> widths = {{6, 3}, {8, 4}, {12, 6}, {16, 8}, {24, 12}, {32, 16}};
  FineTuneOptions qat;  ///< how each width is trained
  /// Where the training called so ("qat-8.4") keeps its checkpoints; empty: none does.
  std::function<CheckpointOptions(const std::string&)> checkpoints_of = {};
};

struct WidthResult {
  FixedPointWidth width;
  ComparedModel ptq, qat;  ///< with their verdicts
};

struct WidthStudy {
  Choice choice;
  std::vector<WidthResult> results;  ///< where the choice is made, in the order of the options
  /// The narrowest that is kept as all wider ones are, for PTQ and for QAT: indices of `results`.
  std::optional<std::size_t> kept_ptq, kept_qat;
};

/// The parent quantized to every width, by rounding alone and with training, and measured on the part that choices are
/// made on. From the widest down, the verdicts stop at the first that is not kept (`verdicts_in_sequence`). What is
/// chosen so is measured once on `data.test`.
/// Throws `UserError` when there is no part to choose on.
WidthStudy study_widths(const Model& parent, const EncodedSplits& data,
                        const WidthStudyOptions& options, Context& context);

/// The parent, then PTQ and QAT of every width.
std::vector<ComparedModel> compared_models(const WidthStudy& study);
/// The parent and the narrowest that is kept, for PTQ and for QAT (see `chosen_evaluations` of a choice).
std::vector<NamedEvaluation> chosen_evaluations(const WidthStudy& study);
/// All of them as a table.
Table width_table(const WidthStudy& study);
/// The same for programs, with the choice: `models`, `kept_ptq` and `kept_qat` ("8.4", or null), `summary`, `findings`.
/// `labels` are the names of the classes.
Json to_json(const WidthStudy& study, const std::vector<std::string>& labels);
/// The same for people: tables, verdict and findings.
std::string to_text(const WidthStudy& study, const TextStyle& style = {});

/// From which width on fixed point is shown to keep the accuracy, by rounding alone and with training, what it changes
/// there, on which part and how many texts.
std::string width_verdict(const WidthStudy& study);
/// What was measured once, of what was chosen; or why the widest is not shown to be kept. Lines.
std::vector<std::string> width_findings(const WidthStudy& study);

/// The tables, and accuracy and flips against width, one curve each for PTQ and QAT, which is also drawn as `stem`.svg
/// and .png. A figure that could not be drawn is a line of `notes`.
Section width_section(const WidthStudy& study, const fs::path& stem,
                      std::vector<std::string>& notes);

}  // namespace hone
