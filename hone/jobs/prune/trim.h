#pragma once

#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/gates.h"

namespace hone {

/// Which tokens of a model's vocabulary to keep.
struct TrimJob {
  std::string model;       ///< as `open_model` takes it
  std::int64_t keep = 0;   ///< how many; 0: those that the training split uses
  GateOptions gates = {};  ///< the drops that are allowed
  std::string split = {};  ///< the split to measure on, see `measured_texts`
  JobData data = {};
  std::int64_t eval_batch_size = 32;
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

/// Writes a copy of a model with fewer tokens, their tokenizer and their embedding rows, chosen by the training split
/// (models/vocabulary_cut.h), and measures it beside its baseline: metric, texts that are tokenized differently, parameters,
/// bytes, latency. Callers that set `gates` check `gate`. Throws `UserError`, as `load_encoded` and `cut_vocabulary` do, for
/// packed weights, and where every token is kept; `Interrupted`.
JobResult trim_job(const TrimJob& job, Context& context);

}  // namespace hone
