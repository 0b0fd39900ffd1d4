#pragma once

#include <functional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/prune/sparsity_study.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"

namespace hone {

/// Of which model sparsities are to be studied, and which.
struct SparsitiesJob {
  std::string model;  ///< as `open_model` takes it
  /// Seeds, checkpoints and `save_steps` come from what follows.
  SparsityStudyOptions study = {};
  std::string split = {};  ///< the part on which what was chosen is measured once
  JobData data = {};
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

struct SparsitiesResult {
  /// The folder holds what the same job has left before, and nothing was done; `fields` are its results.
  bool was_finished = false;
  Json fields = {};  ///< what programs read, see `result_of`
  /// The same for people; null where nothing was done.
  std::function<std::string(const TextStyle&)> text = {};
};

/// Studies up to which sparsity pruning keeps a model's accuracy, by each method, and writes tables, figure and report into
/// `output`. It begins with the unrounded weights where training through quantizers left any. Throws `UserError`, as
/// `load_encoded`, `study_sparsities` and `begin_run` do; `Interrupted`.
SparsitiesResult study_sparsities(const SparsitiesJob& job, Context& context);

}  // namespace hone
