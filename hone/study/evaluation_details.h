#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/gated_change.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/report/document.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

/// The details of an evaluation: metrics and confusion of classes, of labels, or of numbers. All commands show them
/// with these functions.
namespace hone {

/// An evaluation with a name ("test", "before, test") and the cautions for reading it (see data/data_facts.h).
struct NamedEvaluation {
  std::string name;
  TaskEvaluation evaluation;
  std::vector<std::string> cautions = {};
  std::vector<DegradedClass> lost = {};  ///< compared with the baseline
};

/// Returns the metrics of each class, label or number, and their means; for more than a dozen classes only the means.
PageTable metrics_table(const NamedEvaluation& measured, const std::vector<std::string>& labels);

/// Returns the tables of the evaluations (`class_table`, `confusion_table`, `label_table`, `number_table`) and the AUC
/// of two classes, in a folded section. `labels` name the outputs. With very many classes the confusion matrix is only
/// in results.json.
Section details_section(const std::vector<NamedEvaluation>& measured,
                        const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, for all measured `metrics`.
Section details_section_of_seeds(const std::vector<Json>& results,
                                 const std::vector<MetricsKey>& metrics);

}  // namespace hone
