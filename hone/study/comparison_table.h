#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/report/table.h"
#include "hone/study/measure.h"

namespace hone {

/// One line of a table of results: a model beside the parent it was made from.
struct ComparedModel {
  std::string label;
  double average_weight_bits = 32;  ///< of its quantized weights; 32: full precision
  Measurement measurement;
  std::optional<Comparison> comparison;  ///< none: it is the parent
  bool quantized = true;                 ///< its arithmetic is simulated; otherwise fp32
  std::optional<Verdict> verdict = {};   ///< none: it is the parent, or nothing is judged
};

/// Accuracy, its change and flips against the parent with their 95 % intervals, McNemar's p, verdict, loss, margin SNR and
/// bits; "arithmetic" says fp32 or simulated.
Table comparison_table(const std::vector<ComparedModel>& models);

/// What has to be known before any row of the table is looked at (see `concerns` of an evaluation), with the model's
/// label in front.
std::vector<std::string> concerns(const std::vector<ComparedModel>& models,
                                  const std::vector<std::string>& labels);
/// The same of one model for programs, with its measurement and, unless it is the parent, its comparison. `labels` are
/// the names of the classes.
Json to_json(const ComparedModel& model, const std::vector<std::string>& labels);

/// Cells of such tables, each with its 95 % interval.
Cell accuracy_cell(const Evaluation& evaluation);
/// The same in a sentence: "80.6 % (95 %: 79.4 to 81.8)".
std::string accuracy_sentence(const Evaluation& evaluation);
Cell change_cell(const Comparison& comparison);
/// What a candidate changes, in a sentence: "+0.00 points, 95 %: -0.38 to +0.38; 0.00 % flips, 95 %: 0.00 to 0.38".
std::string change_sentence(const Comparison& comparison);
Cell flip_cell(const Comparison& comparison);
/// "kept", "lost", "unclear".
Cell verdict_cell(const Verdict& verdict);

/// The colour of a verdict's sentence.
Tone tone_of(const Verdict& verdict);

}  // namespace hone
