#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/prune/sparsity_study.h"
#include "hone/study/result.h"

namespace hone {

/// A request to study sparsities of a model.
struct SparsitiesJob {
  std::string model;  ///< as `open_model` takes it
  /// Seeds, checkpoints and `save_steps` are set from the members below.
  SparsityStudyOptions study = {};
  std::string split = {};  ///< the split on which the chosen models are measured once
  JobData data = {};
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

/// The machine-readable result.
struct SparsitiesFields {
  SubjectResult subject;
  std::vector<MeasuredModelResult> models = {};
  std::vector<std::pair<std::string, std::optional<double>>> max_sparsity = {};
  std::string structure;
  bool trained = false;
  ChoiceResult choice = {};
};
const Fields& fields_of(const SparsitiesFields*);

/// Finds the highest sparsity at which each pruning method stays within the limit, and writes tables, figure and report
/// into `output`. Starts from the unrounded weights if quantization-aware training left any. Throws `UserError` as
/// `load_encoded`, `study_sparsities` and `begin_run` do; `Interrupted`.
JobResult study_sparsities(const SparsitiesJob& job, Context& context);

}  // namespace hone
