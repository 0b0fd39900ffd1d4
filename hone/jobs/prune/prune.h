#pragma once

#include <string>

#include "hone/jobs/distillation.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/prune/sparsify.h"
#include "hone/study/gates.h"

namespace hone {

/// A request to prune single weights or blocks of a model.
struct PruneJob {
  std::string model;         ///< as `open_model` takes it
  SparsifyOptions how = {};  ///< seeds, checkpoints and `save_steps` are set from the members below
  DistillJob distill = {};   ///< a teacher of the training
  GateOptions gates = {};    ///< the allowed drops
  std::string split = {};    ///< the split to measure on, see `evaluation_examples`
  JobData data = {};
  std::string report_to = "none";  ///< or "tensorboard"
  JobResume resume = {};
  std::uint64_t seed = 42;
  std::int64_t seeds = 1;  ///< repeat with the seeds `seed`, `seed` + 1, …
  bool row_hashes = true;  ///< the model stores fingerprints of the examples it was trained on
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the model card and the record of the run
};

/// Makes a pruned copy of a model, trained through its masks if requested, measures it against its baseline, and
/// writes it with its report into `output`. Starts from the unrounded weights if quantization-aware training left any;
/// keeps the model's quantizers. Callers that set `gates` must check `JobResult::gate`.
///
/// Throws `UserError` as `load_encoded`, `prune` and `begin_run` do, and if a number format turns pruned weights into
/// nonzero values; `Interrupted`.
JobResult prune_job(const PruneJob& job, Context& context);

}  // namespace hone
