#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/result.h"
#include "hone/study/tensor_statistics.h"

namespace hone {

/// A job that measures weights and activations on a split.
struct StatisticsJob {
  std::string model;                     ///< see `open_model`
  std::vector<std::string> layers = {};  ///< globs, see `measure_statistics`
  std::string split = "validation";      ///< to measure on
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

/// The JSON result.
struct StatisticsFields {
  SubjectResult subject;
  std::int64_t examples = 0;
  std::string arithmetic;
  std::vector<TensorStatistics> tensors = {};
};
const Fields& fields_of(const StatisticsFields*);

struct StatisticsResult : JobResult {
  std::vector<TensorStatistics> tensors;
};

/// Measures the weights, inputs and outputs of layers on the split, and writes table, histograms, figure and report
/// into `output`. Throws `UserError` like `load_encoded` and `measure_statistics`.
StatisticsResult measure_statistics(const StatisticsJob& job, Context& context);

}  // namespace hone
