#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/job_result.h"

/// Shared parts of studies of candidates along one axis (widths, sparsities). Their order is fixed before any
/// measurement: from the one expected to lose least on, as long as each is within the limit.
namespace hone {

/// Considers models in that order and keeps the last one within the limit, as long as all before it are.
struct SequentialSelection {
  bool all_within_limit = true;
  std::optional<std::size_t> kept = {};  ///< its index
  std::optional<Model> model = {};

  void consider(std::size_t index, Model candidate, const ComparedModel& measured);
};

/// Sets the verdicts of the candidates, in that order, by `verdicts_in_sequence`.
void judge_in_sequence(const std::vector<ComparedModel*>& candidates);

/// A candidate with its position on the axis.
struct CurvePoint {
  double x = 0;
  const ComparedModel* model = nullptr;
};
struct CandidateCurve {
  std::string label;
  std::vector<CurvePoint> points;
};

/// Draws the task's metric against the axis, with intervals, and beside it the predictions changed (the mean shift for
/// regression), one curve each. `baseline` is the baseline's label.
Figure candidate_figure(const std::string& title, const Choice& choice, const std::string& baseline,
                        const Axis& x, const std::vector<CandidateCurve>& curves);
/// Returns the title of that figure: "Accuracy and flips".
std::string candidate_figure_title(const Choice& choice);

/// Returns the table of all candidates with an explanation of its verdicts. `order` of the tests: "from the widest
/// down".
PageTable candidate_page_table(const Table& table, const Choice& choice,
                               const std::string& baseline, const std::string& order);

/// Completes the result of a study, writes it and commits the `output`. Writes `table` to results.csv, appends
/// `fields`, and adds notes with concerns about `models` (the baseline first) and about the figures in `figure_notes`.
/// `labels` are the class names.
void finish_study(const Choice& choice, const Table& table,
                  const std::vector<ComparedModel>& models, const Json& fields,
                  const std::vector<std::string>& labels,
                  const std::vector<std::string>& figure_notes, JobResult& result,
                  const Invocation& invocation, OutputFolder& output, const Context& context);

}  // namespace hone
