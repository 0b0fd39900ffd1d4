#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/labs/speed_lab.h"

/// The report of lab 4.1.
namespace hone {

/// A work, call by call, or why the device cannot run it.
struct FoundCalls {
  std::string model;  ///< "BERT-tiny"
  std::string work;   ///< "BERT-tiny, inference, batch size 8, 128 tokens"
  std::string stage;  ///< that timed it; names its figure
  bool train = false;
  std::optional<IterationTimes> times = {};
  std::string why_not = {};  ///< "not run: …"; empty: `times` are there
};

/// A work that another fidelity times.
struct LeftOutWork {
  std::string work;
  std::string why_not;  ///< "not run: …"
};

/// What mistakes of measuring do to a work, or why the device cannot run it.
struct FoundMistakes {
  std::string work;
  std::optional<NaiveTimes> times = {};
  std::string why_not = {};
};

/// Writes tables and figures to the folder of the run.
LabReport speed_report(const std::vector<FoundCalls>& calls,
                       const std::vector<FoundMistakes>& mistakes,
                       const std::vector<LeftOutWork>& left_out, const LabRun& run);

}  // namespace hone
