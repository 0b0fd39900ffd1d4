#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/job_result.h"

/// Candidates along one axis (widths, sparsities), in an order that is fixed before anything is measured: from the one that
/// should lose least on, as long as each is kept. What studies of them share.
namespace hone {

/// Models in that order, of which the last stays at hand that is kept as all before it are.
struct Descent {
  bool going_on = true;
  std::optional<std::size_t> kept = {};  ///< the index it was considered under
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

/// The task's figure against the axis, with its intervals, and beside it flips against the parent (of numbers how far they
/// move), a curve each. The parent is called `parent`.
Figure candidate_figure(const std::string& title, const Choice& choice, const std::string& parent,
                        const Axis& x, const std::vector<CandidateCurve>& curves);
/// "Accuracy and flips": what that figure shows.
std::string candidate_figure_title(const Choice& choice);

/// The table of all candidates for a page, with what its verdicts mean; `order` says from which on they are tested: "from the
/// widest down".
PageTable candidate_page_table(const Table& table, const Choice& choice, const std::string& parent,
                               const std::string& order);

/// Completes the report of a study: results.csv with the `table`, what programs read of it behind the `results` that are there,
/// notes with what speaks against the figures of `models`, the parent first, and what was `undrawn`. `labels` are the names of
/// the classes. Then commits the `output`.
void finish_study(const Choice& choice, const Table& table,
                  const std::vector<ComparedModel>& models, const Json& fields,
                  const std::vector<std::string>& labels, const std::vector<std::string>& undrawn,
                  RunReport& report, OutputFolder& output, const Context& context);

}  // namespace hone
