#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/classification.h"
#include "hone/metrics/multi_label.h"
#include "hone/report/table.h"

/// How well each class was told from the others, or each label given, and what texts were taken for.
namespace hone {

/// A row per class: its texts, precision and recall (Wilson, 95%), F1. Below them their macro and weighted means, which
/// have no interval and in which 0/0 counts as 0 (`Evaluation::macro`).
Table class_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// A row per label, as of classes, and the four means that scikit-learn knows.
Table label_table(const MultiLabelEvaluation& evaluation, const std::vector<std::string>& labels);

/// A row per class: how many of its texts were taken for each class.
Table confusion_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// "AUC of good: 0.912 (95% CI 0.887 to 0.937)"; "" where it is not defined.
std::string auc_text(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, whose results measured the figures called `key`: precision, recall and F1 as
/// `SeedSpread` tells them (the mean with its interval; under five seeds the values). A mean is not defined where the
/// figure of a seed is not.
Table class_table_of_seeds(const std::vector<Json>& results, const std::string& key);
Table label_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// How many texts were taken for each class: the values, and from five seeds on their mean.
Table confusion_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// "AUC of good: 0.912, 0.931 with 2 seeds"
std::string auc_text_of_seeds(const std::vector<Json>& results, const std::string& key,
                              const std::vector<std::string>& labels);

/// A metric of each result, found by its keys; NaN where it is not defined.
std::vector<double> figures_at(const std::vector<Json>& results, const Json::json_pointer& where);

}  // namespace hone
