#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"
#include "hone/study/tensor_statistics.h"

namespace hone {

/// Of which model values are to be looked at, and over which texts.
struct StatisticsJob {
  std::string model;                     ///< as `open_model` takes it
  std::vector<std::string> layers = {};  ///< globs, see `measure_statistics`
  std::string split = "validation";      ///< the part that is looked at
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

struct StatisticsResult {
  std::vector<TensorStatistics> tensors;
  Json fields;                                             ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};  ///< the same for people
};

/// Looks at what layers read and give over the texts of the part, and writes table, histograms, figure and report into
/// `output`. Throws `UserError`, as `load_encoded` and `measure_statistics` do.
StatisticsResult measure_statistics(const StatisticsJob& job, Context& context);

}  // namespace hone
