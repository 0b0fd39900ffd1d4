#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/job_result.h"

/// Shared parts of studies of candidates along one axis (widths, sparsities). Their order is fixed before anything is measured:
/// from the one that should lose least on, as long as each is within the limit.
namespace hone {

/// Models in that order. Keeps the last one that is within the limit, as all before it are.
struct Descent {
  bool going_on = true;
  std::optional<std::size_t> kept = {};  ///< its index
  std::optional<Model> model = {};

  void consider(std::size_t index, Model candidate, const ComparedModel& measured);
};

/// Gives the candidates, in that order, the verdicts of `verdicts_in_sequence`.
void judge_in_sequence(const std::vector<ComparedModel*>& candidates);

/// A candidate at its place on the axis.
struct CurvePoint {
  double x = 0;
  const ComparedModel* model = nullptr;
};
struct CandidateCurve {
  std::string label;
  std::vector<CurvePoint> points;
};

/// The task's metric against the axis, with intervals, and beside it the predictions changed (for numbers the mean shift), a
/// curve each. `parent` is the baseline's label.
Figure candidate_figure(const std::string& title, const Choice& choice, const std::string& parent,
                        const Axis& x, const std::vector<CandidateCurve>& curves);
/// "Accuracy and flips", a title for that figure.
std::string candidate_figure_title(const Choice& choice);

/// The table of all candidates, with the meaning of its verdicts; `order` of the tests: "from the widest down".
PageTable candidate_page_table(const Table& table, const Choice& choice, const std::string& parent,
                               const std::string& order);

/// Completes the result of a study and writes it: results.csv with the `table`, `fields` after those that are there, notes with
/// concerns about `models`, the baseline first, and those of `undrawn` figures. `labels` are the class names. Then commits the
/// `output`.
void finish_study(const Choice& choice, const Table& table,
                  const std::vector<ComparedModel>& models, const Json& fields,
                  const std::vector<std::string>& labels, const std::vector<std::string>& undrawn,
                  JobResult& result, const Invocation& invocation, OutputFolder& output,
                  const Context& context);

}  // namespace hone
