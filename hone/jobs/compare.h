#pragma once

#include <optional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/metrics/verdict.h"
#include "hone/study/gates.h"

namespace hone {

/// Which models are to be compared, and on which texts.
struct CompareJob {
  std::string first,
      second;  ///< as `open_model` takes them, or folders of repeated jobs with the same seeds
  /// Folders of adapters to put on them, each trained beside the weights it is put on; empty: none. Of models, not of seeds.
  std::string first_adapter = {}, second_adapter = {};
  JobData data = {};
  std::string split = {};  ///< the part to measure on, see `measured_texts`
  std::int64_t batch_size = 32;
  std::int64_t texts = 20;  ///< most texts that changed to tell
  GateOptions gates = {};   ///< what the second may lose
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report

  /// The models as they are told: "my-model with my-adapter".
  std::string first_name() const;
  std::string second_name() const;
};

struct CompareResult : JobResult {
  Verdict verdict;  ///< whether the second is within the limit of the first
};

/// Measures two models, or those of all seeds of two repeated jobs, on the same texts, and says what changed from the first
/// to the second. Whoever sets `gates` looks at `gate`. Throws `UserError`, as `open_model`, `load_measured` and
/// `compare_models` of two models do.
CompareResult compare_models(const CompareJob& job, Context& context);

}  // namespace hone
