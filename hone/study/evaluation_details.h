#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/gated_change.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/report/document.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

/// What stands behind the figure a task is judged by: its classes and what was taken for what, its labels, its numbers. The
/// only way by which commands show them.
namespace hone {

/// What was measured, with a name ("test", "before, test") and what it is to be read with (see data/data_facts.h).
struct NamedEvaluation {
  std::string name;
  TaskEvaluation evaluation;
  std::vector<std::string> cautions = {};
  std::vector<LostClass> lost = {};  ///< beside the model it was made from
};

/// Metrics of each class, label or number, with their means; of more than a dozen classes the means alone.
PageTable metrics_table(const NamedEvaluation& measured, const std::vector<std::string>& labels);

/// Tables of what was measured (`class_table`, `confusion_table`, `label_table`, `number_table`) and the area under the curve of
/// two classes, in a folded section. `labels` are the names of the outputs. Of very many classes, results.json has the matrix alone.
Section details_section(const std::vector<NamedEvaluation>& measured,
                        const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, of all `figures` that were measured.
Section details_section_of_seeds(const std::vector<Json>& results,
                                 const std::vector<NamedFigures>& figures);

}  // namespace hone
