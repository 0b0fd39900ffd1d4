#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/classification.h"
#include "hone/metrics/multi_label.h"
#include "hone/report/table.h"

/// Tables of metrics per class or label, and of confusion matrices.
namespace hone {

/// Returns a row per class: its examples, precision and recall (Wilson, 95%), F1. Then the macro and weighted means,
/// which have no interval and in which 0/0 counts as 0 (`Evaluation::macro`).
Table class_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// Returns the same row per label, then scikit-learn's four means.
Table label_table(const MultiLabelEvaluation& evaluation, const std::vector<std::string>& labels);

/// Returns the confusion matrix: a row per class, with the number of its examples predicted as each class.
Table confusion_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// Returns "AUC of good: 0.912 (95% CI 0.887 to 0.937)"; "" if it is not defined.
std::string auc_text(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, from the metrics under `key` in its results. Precision, recall and F1 are
/// shown like `SeedSpread`: the mean with its interval, or the values of fewer than five seeds. A mean is not defined
/// if the value of a seed is not.
Table class_table_of_seeds(const std::vector<Json>& results, const std::string& key);
Table label_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// Returns the confusion matrix: the counts of each seed, or their mean from five seeds on.
Table confusion_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// Returns "AUC of good: 0.912, 0.931 with 2 seeds".
std::string auc_text_of_seeds(const std::vector<Json>& results, const std::string& key,
                              const std::vector<std::string>& labels);

/// Returns the number at `where` in each result; NaN if it is not defined.
std::vector<double> values_at(const std::vector<Json>& results, const Json::json_pointer& where);

}  // namespace hone
