#pragma once

#include <string>
#include <vector>

#include "hone/jobs/allocation/allocation_options.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/native/native_times.h"
#include "hone/train/calibration.h"
#include "hone/train/variants.h"

namespace hone {

/// Formats to choose for the linears of a model within a budget.
struct AllocateJob {
  std::string model;  ///< as `open_model` takes it; trained, not quantized
  AllocationRequest request = {};
  std::int64_t points = 12;  ///< of the front to evaluate
  std::int64_t swaps = 5;    ///< of two layers around the best of these, to evaluate
  /// What times are of, where a budget is of them; 0 tokens: as many as texts of the validation part have on average.
  BatchSize timed = {.texts = 1, .tokens = 0};
  CalibrationRun calibration = {.batch_size = 32};
  VariantRuns runs = {};
  std::string split = {};  ///< the part on which the chosen model is reported, see `measured_texts`
  JobData data = {};
  fs::path cache = {};  ///< store of trials, that of searches; empty: none is kept or taken
  bool resume = false;
  std::uint64_t seed = 42;
  bool row_hashes = true;
  JobOutput output = {};
  Invocation invocation = {};
};

/// Measures each option of each linear alone on a sample of the split that choices are made on, and solves for the exact front of the
/// sums. Evaluates points of the front as whole models, and swaps of two layers around the best of them, each a trial of a study in
/// `output`/study.db. Chooses the one with the smallest divergence within the budgets, evaluates it once on the reported split, and
/// writes it to `output`/best, with its recipe, tables, a figure and a report.
///
/// Throws `UserError`: as `solve_allocation`, `begin_run` and `load_encoded` do, for fresh weights, and for a model that is quantized
/// or packed; `Interrupted`.
JobResult allocate_formats(const AllocateJob& job, Context& context);

}  // namespace hone
