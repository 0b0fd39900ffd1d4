#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/prune/sparsify.h"
#include "hone/jobs/job_result.h"
#include "hone/metrics/verdict.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

namespace hone {

/// How a model is to be pruned.
struct PruneJob {
  std::string model;         ///< as `open_model` takes it
  SparsifyOptions how = {};  ///< its seeds, checkpoints and `save_steps` come from what follows
  GateOptions gates = {};    ///< what may be lost
  std::string split = {};    ///< the part to measure on, see `measured_texts`
  JobData data = {};
  std::string report_to = "none";  ///< or "tensorboard"
  JobResume resume = {};
  std::uint64_t seed = 42;
  std::int64_t seeds = 1;  ///< of the training and of what else is drawn: `seed`, `seed` + 1, …
  bool row_hashes = true;  ///< the model remembers what it has learnt from, by fingerprints of rows
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

struct PruneResult {
  /// The folder holds what the same job has left before, and nothing was done; `fields` are its results.
  bool was_finished = false;
  Json fields = {};                      ///< what programs read, see `result_of`
  Verdict verdict = {};                  ///< whether accuracy was kept
  std::optional<GateOutcome> gate = {};  ///< nothing where no gates were asked for
  /// The same for people; null where nothing was done.
  std::function<std::string(const TextStyle&)> text = {};
};

/// Makes a pruned copy of a model, trained through its masks where asked for, measures it beside the model it was made of, and
/// writes it with its report into `output`. It begins with the unrounded weights where training through quantizers left any;
/// quantizers that the model has stay. Whoever sets `gates` looks at `gate`.
///
/// Throws `UserError`, as `load_encoded`, `prune` and `begin_run` do, and where a number format leaves pruned weights that are
/// not zero; `Interrupted`.
PruneResult prune_job(const PruneJob& job, Context& context);

}  // namespace hone
