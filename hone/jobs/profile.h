#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"

namespace hone {

/// What is to be looked at, and how.
struct ProfileJob {
  BenchJob work = {};
  bool by_node =
      false;  ///< a row for each node of the graph; otherwise for each operation and kernel
  std::int64_t rows = 30;      ///< of the table on a screen; 0: all
  JobOutput output = {};       ///< of timeline, roofline and page; no folder: none is written
  Invocation invocation = {};  ///< for the page
};

/// Runs a model as `bench` does and tells where the time went, beside what this machine does at best: a table, and in the folder
/// `timeline.json`, which Perfetto opens, the roofline and a page. Throws as `bench`.
BenchResult profile(const ProfileJob& job, Context& context);

}  // namespace hone
