#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

/// Values from the results of stages, and formulas over them.
namespace hone {

/// A place to read values from: a stage, or a row of its results.
struct ValueSource {
  std::size_t stage = 0;
  std::optional<Json> row = {};
  std::string name = {};  ///< key of a row of an object; its value at "name"
};

/// Returns the members of the list or object at a path into the stage's results. "trial" returns the finished trials of
/// its search, with the keys of `best` in results. Without a path returns the stage itself, if it has results.
std::vector<ValueSource> rows_at(std::size_t stage, const std::string& path,
                                 const PipelineFindings& found);

/// Returns the value at a path into the row or the results, or with "log.first.", "log.highest." and "log.last." into
/// the log of the stage's training. "PATH.*.KEY" is the text that all members at PATH share, and "tally.PATH.*.KEY"
/// counts their texts. Otherwise returns the variable of the stage's `each` with that name, or an absent cell.
Cell cell_in(const ValueSource& source, const std::string& path, const PipelineFindings& found);
/// Returns the same as a number, with its interval if it has one; NaN if it is not a number.
Estimate estimate_in(const ValueSource& source, const std::string& path,
                     const PipelineFindings& found);

/// Resolves a reference; none if it was left out, or if nothing in the pick has the value and fulfils its conditions.
std::optional<ValueSource> source_of(const StageReference& reference,
                                     const PipelineFindings& found);

/// The number of stages or rows of a pick that fulfil its conditions.
struct PickCount {
  std::int64_t fulfilling = 0, all = 0;
};
PickCount count_of(const PipelinePick& pick, const PipelineFindings& found);

/// Evaluates a formula; NaN if a value is missing. The width of its interval is the sum of the changes that the
/// intervals of its values cause, because their dependence is not known.
Estimate evaluate_formula(const ValueFormula& formula, const ValueSource& source,
                          const PipelineFindings& found);
/// Returns the same for display; a path may refer to a text.
Cell formula_cell(const ValueFormula& formula, const ValueSource& source,
                  const PipelineFindings& found);

/// Returns which of several comparisons are significant at 5% with Holm's correction, by their p-values. None if a
/// p-value is missing or there is one comparison: then nothing is corrected, and intervals decide.
std::optional<std::vector<bool>> significant_after_holm(const std::vector<double>& p);

}  // namespace hone
