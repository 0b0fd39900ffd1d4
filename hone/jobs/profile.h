#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/run_profile.h"

namespace hone {

/// A model to profile.
struct ProfileJob {
  BenchJob work = {};
  bool by_node = false;    ///< one row per node of the graph; otherwise per operation and kernel
  std::int64_t rows = 30;  ///< in the table on a terminal; 0: all
  JobOutput output = {};   ///< for timeline, roofline and report; no folder: none
  Invocation invocation = {};  ///< for the report
};

/// The JSON result.
struct ProfileFields {
  BenchTimesResult times = {};
  double copy_gbps = 0;
  std::vector<OperatorTimeResult> operators = {};
};
const Fields& fields_of(const ProfileFields*);

struct ProfileResult : JobResult {
  BenchTimes times;
};

/// Runs a model like `bench` and compares the time of each operation with the peak of this machine. The result is a
/// table and, in the folder, `timeline.json` for Perfetto, the roofline and a report. Throws like `bench`.
ProfileResult profile(const ProfileJob& job, Context& context);

}  // namespace hone
