#pragma once

#include <vector>

#include "hone/labs/speed_report.h"

/// The tables of lab 4.1.
namespace hone {

Table overview_table(const std::vector<LabExecutorResult>& overview);
/// Lists every stage of preparation until the second call, with those of torch.compile.
Table preparation_table(const IterationTimes& times);
/// Lists the number of operations of each kind that moves memory, and the bytes they move, for each executor.
Table operations_table(const IterationTimes& times);
/// Returns `executor_table` with a clearer header for the calls needed.
Table executors_table(const IterationTimes& times);
/// Writes the tables of all workloads as CSV files to a folder.
void write_tables(const std::vector<WorkloadCalls>& calls,
                  const std::vector<WorkloadMistakes>& mistakes, const fs::path& folder);

}  // namespace hone
