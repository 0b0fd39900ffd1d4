#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/regression.h"
#include "hone/report/table.h"

/// How near the numbers of a regression come to the true ones.
namespace hone {

/// A row per output: R², root mean squared and mean absolute error in the unit of the targets, Pearson's and Spearman's
/// correlation with their 95% intervals; of several outputs a row for all of them, and last always giving the mean.
Table number_table(const RegressionEvaluation& evaluation, const std::vector<std::string>& outputs);

/// The same over the seeds of a repeated job, whose results measured the figures called `key`: the mean of each figure with
/// its interval, under five seeds the values.
Table number_table_of_seeds(const std::vector<Json>& results, const std::string& key);

}  // namespace hone
