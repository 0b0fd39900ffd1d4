#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/regression.h"
#include "hone/report/table.h"

/// Tables of regression metrics.
namespace hone {

/// Returns a row per output: R², root mean squared and mean absolute error in the unit of the targets, Pearson's and
/// Spearman's correlation with their 95% intervals. Then a row for all outputs if there are several, and one for always
/// predicting the mean.
Table number_table(const RegressionEvaluation& evaluation, const std::vector<std::string>& outputs);

/// The same over the seeds of a repeated job, from the metrics under `key` in its results: the mean of each metric with
/// its interval, or the values of fewer than five seeds.
Table number_table_of_seeds(const std::vector<Json>& results, const std::string& key);

}  // namespace hone
