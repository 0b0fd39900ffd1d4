#pragma once

#include <string>

#include "hone/jobs/diagnosis.h"
#include "hone/jobs/job_result.h"
#include "hone/report/document.h"

/// Where a quantization loses accuracy and what loses less, as `hone quantize` tells it. All of it is found by rounding
/// alone, so it holds for every seed of a job.
namespace hone {

/// What can be done about a loss.
struct NextStep {
  std::string note;
  std::string command = {};  ///< for a shell; "" where there is none
};

struct Explanation {
  Diagnosis diagnosis;
  NextStep next;
  std::int64_t seeds = 1;  ///< of the job
};

/// A job as it was asked for.
struct AskedJob {
  const Invocation& invocation;
  const CompressOptions& options;
  std::string output;  ///< folder as it was named
  fs::path folder;     ///< where that is written until it is complete
};

/// What may lose less: the remedy, which is written into the job's folder as a recipe. The command is a line for a shell
/// that quantizes with it, in the same way in all else.
NextStep next_step(const AskedJob& job, const Diagnosis& diagnosis, const Graph& graph);

/// For the terminal.
std::string to_text(const Explanation& explanation, const TextStyle& style);
/// The section of a page, `layers` first.
Section to_section(const Explanation& explanation, std::vector<Block> layers);
/// For programs; `graph` is that of the model as it was.
Json to_json(const Explanation& explanation, const Graph& graph);

}  // namespace hone
