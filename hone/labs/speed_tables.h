#pragma once

#include <vector>

#include "hone/labs/speed_report.h"

/// The tables of lab 4.1.
namespace hone {

Table overview_table(const std::vector<LabExecutorResult>& overview);
/// Every stage of preparation until the second call, beside those of torch.compile.
Table preparation_table(const IterationTimes& times);
/// How many operations of each kind that moves memory, and how much, for each executor.
Table operations_table(const IterationTimes& times);
/// With a heading that says what it counts.
Table executors_table(const IterationTimes& times);
/// The tables of all works as CSV files in a folder.
void write_tables(const std::vector<FoundCalls>& calls, const std::vector<FoundMistakes>& mistakes,
                  const fs::path& folder);

}  // namespace hone
