#pragma once

#include <string>

#include "hone/jobs/diagnosis.h"
#include "hone/jobs/job_result.h"
#include "hone/report/document.h"

/// Explains where a quantization loses accuracy, and what loses less. Everything is measured by rounding alone, so it holds for
/// every seed of a job.
namespace hone {

/// A remedy for a loss.
struct NextStep {
  std::string note;
  std::string command = {};  ///< for a shell; "": none
};

struct Explanation {
  Diagnosis diagnosis;
  NextStep next;
  std::int64_t seeds = 1;  ///< of the job
};

/// A job as it was requested.
struct AskedJob {
  const Invocation& invocation;
  const CompressOptions& options;
  std::string output;  ///< folder as the user named it
  fs::path folder;     ///< where it is written until it is complete
};

/// Writes the remedy into the job's folder as a recipe. The command quantizes with it, and is the same otherwise.
NextStep next_step(const AskedJob& job, const Diagnosis& diagnosis, const Graph& graph);

/// The section of a document, the figure `layers` first.
Section to_section(const Explanation& explanation, std::vector<Block> layers);
/// For programs; `graph` is that of the baseline.
Json to_json(const Explanation& explanation, const Graph& graph);

}  // namespace hone
