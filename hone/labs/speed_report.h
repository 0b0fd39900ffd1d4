#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/labs/speed_lab.h"

/// The report of lab 4.1.
namespace hone {

/// A workload, call by call, or why the device cannot run it.
struct WorkloadCalls {
  std::string model;  ///< "BERT-tiny"
  std::string work;   ///< "BERT-tiny, inference, batch size 8, 128 tokens"
  std::string stage;  ///< the stage that timed it; names its figure
  bool train = false;
  std::optional<IterationTimes> times = {};
  std::string why_not = {};  ///< "not run: …"; empty: `times` is set
};

/// A workload that only another fidelity times.
struct SkippedWorkload {
  std::string work;
  std::string why_not;  ///< "not run: …"
};

/// The effects of benchmarking mistakes on a workload, or why the device cannot run it.
struct WorkloadMistakes {
  std::string work;
  std::optional<NaiveTimes> times = {};
  std::string why_not = {};
};

/// Returns the report; writes tables and figures to the folder of the run.
LabReport speed_report(const std::vector<WorkloadCalls>& calls,
                       const std::vector<WorkloadMistakes>& mistakes,
                       const std::vector<SkippedWorkload>& left_out, const LabRun& run);

}  // namespace hone
