#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/diagnosis.h"
#include "hone/jobs/job_result.h"
#include "hone/report/document.h"

/// Explains where a quantization loses accuracy, and what would lose less. Everything is measured by rounding alone, so
/// it holds for every seed of a job.
namespace hone {

/// A remedy for a loss.
struct NextStep {
  std::string note;
  std::string command = {};  ///< for a shell; "" if there is none
};

struct Explanation {
  Diagnosis diagnosis;
  NextStep next;
  std::int64_t seeds = 1;  ///< of the job
};

/// A job as it was requested.
struct RequestedJob {
  const Invocation& invocation;
  const CompressOptions& options;
  std::string output;  ///< folder as the user named it
  fs::path folder;     ///< where it is written until the job completes
};

/// Writes the remedy into the job's folder as a recipe. The returned command repeats the job with that recipe.
NextStep next_step(const RequestedJob& job, const Diagnosis& diagnosis, const Graph& graph);

/// Returns the section of a document; the figure `layers` comes first.
Section to_section(const Explanation& explanation, std::vector<Block> layers);

/// A comparison in results, with the split it was made on.
struct SplitComparisonResult {
  ComparisonResult comparison = {};
  std::string split = {};
  std::int64_t examples = 0;
};
/// An explanation in results.
struct DiagnosisResult {
  std::vector<OperandResult> operands = {};
  std::optional<SplitComparisonResult> with_better_parameters = {},
                                       with_noisiest_in_full_precision = {};
  std::optional<std::string> recipe = {}, command = {};
};
const Fields& fields_of(const SplitComparisonResult*);
const Fields& fields_of(const DiagnosisResult*);
/// `graph` is that of the baseline.
DiagnosisResult diagnosis_result(const Explanation& explanation, const Graph& graph);

}  // namespace hone
