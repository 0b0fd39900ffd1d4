#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/run_profile.h"

namespace hone {

/// A model to profile.
struct ProfileJob {
  BenchJob work = {};
  bool by_node =
      false;  ///< a row for each node of the graph; otherwise one for each operation and kernel
  std::int64_t rows = 30;      ///< of the table on a terminal; 0: all
  JobOutput output = {};       ///< of timeline, roofline and report; no folder: none is written
  Invocation invocation = {};  ///< for the report
};

/// The result for programs.
struct ProfileFields {
  BenchTimesResult times = {};
  double copy_gbps = 0;
  std::vector<OperatorTimeResult> operators = {};
};
const Fields& fields_of(const ProfileFields*);

struct ProfileResult : JobResult {
  BenchTimes times;
};

/// Runs a model as `bench` does and measures the time of each operation against the peak of this machine: a table, and in the
/// folder `timeline.json`, which Perfetto opens, the roofline and a report. Throws as `bench`.
ProfileResult profile(const ProfileJob& job, Context& context);

}  // namespace hone
