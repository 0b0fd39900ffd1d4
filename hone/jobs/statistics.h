#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/result.h"
#include "hone/study/tensor_statistics.h"

namespace hone {

/// A measurement of weights and activations over a split.
struct StatisticsJob {
  std::string model;                     ///< as `open_model` takes it
  std::vector<std::string> layers = {};  ///< globs, see `measure_statistics`
  std::string split = "validation";      ///< to measure on
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

/// The result for programs.
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

/// Measures the weights, inputs and outputs of layers over the split, and writes table, histograms, figure and report into
/// `output`. Throws `UserError`, as `load_encoded` and `measure_statistics` do.
StatisticsResult measure_statistics(const StatisticsJob& job, Context& context);

}  // namespace hone
