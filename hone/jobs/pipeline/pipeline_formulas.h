#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

/// Values of what the stages of a pipeline have found, and what its file computes of them.
namespace hone {

/// Where values are read: a stage, or one of the rows in its results.
struct ValuePlace {
  std::size_t stage = 0;
  std::optional<Json> row = {};
  std::string name = {};  ///< of a row of an object; its value at "name"
};

/// The members of the list or object at a path into the stage's results; with "trial" the finished trials of its search, which have the
/// keys that `best` has there. Without a path the stage itself, if it has results.
std::vector<ValuePlace> rows_at(std::size_t stage, const std::string& path,
                                const PipelineFindings& found);

/// What is at a path into the row or into the results or, with "log.first.", "log.highest." and "log.last.", in the log of the stage's
/// training; "PATH.*.KEY" is the text that all members at PATH have in common, and "tally.PATH.*.KEY" counts their texts. Otherwise the
/// variable of the stage's `each` of that name. Absent: nothing.
Cell cell_in(const ValuePlace& place, const std::string& path, const PipelineFindings& found);
/// The same, or a variable of the stage's `each`, as a number with what is known of its uncertainty; NaN: it is not a number.
Estimate estimate_in(const ValuePlace& place, const std::string& path,
                     const PipelineFindings& found);

/// What is meant. None: it was left out, or no stage or row of the pick has the value and fulfils its conditions.
std::optional<ValuePlace> place_of(const StageReference& reference, const PipelineFindings& found);

/// How many of the stages or rows of a pick fulfil its conditions.
struct PickCount {
  std::int64_t fulfilling = 0, all = 0;
};
PickCount count_of(const PipelinePick& pick, const PipelineFindings& found);

/// The number that a formula stands for; NaN: a value is missing. Where some of several values have intervals, its own is as wide as what
/// each of them moves it by, added: whether they depend on each other is not known.
Estimate computed(const ValueFormula& formula, const ValuePlace& place,
                  const PipelineFindings& found);
/// The same as it is shown: a path may lead to a text.
Cell computed_cell(const ValueFormula& formula, const ValuePlace& place,
                   const PipelineFindings& found);

/// Which of several comparisons, by their p-values, differ at a level of 5% with Holm's correction. Nothing where a p-value is missing or
/// there is one comparison: then nothing is corrected, and intervals decide.
std::optional<std::vector<bool>> significant_after_holm(const std::vector<double>& p);

}  // namespace hone
