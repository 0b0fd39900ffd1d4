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

/// A request to choose formats for the linears of a model within a budget.
struct AllocateJob {
  std::string model;  ///< as `open_model` takes it; trained, not quantized
  AllocationRequest request = {};
  std::int64_t points = 12;  ///< front points to evaluate
  std::int64_t swaps = 5;    ///< swaps of two layers around the best of these to evaluate
  /// Batch for latency budgets; 0 tokens: the average length of validation texts.
  BatchSize timed = {.texts = 1, .tokens = 0};
  CalibrationRun calibration = {.batch_size = 32};
  VariantRuns runs = {};
  std::string split =
      {};  ///< the split on which the chosen model is reported, see `evaluation_examples`
  JobData data = {};
  fs::path cache = {};  ///< trial cache, shared with searches; empty: no cache
  bool resume = false;
  std::uint64_t seed = 42;
  bool row_hashes = true;
  JobOutput output = {};
  Invocation invocation = {};
};

/// Measures each option of each linear alone on a sample of the split used for choices, and solves for the exact front
/// of the sums. Evaluates points of the front as whole models, and swaps of two layers around the best of them, each
/// as a trial of a study in `output`/study.db. Chooses the model with the smallest divergence within the budgets,
/// evaluates it once on the reported split, and writes it to `output`/best with recipe, tables, figure and report.
///
/// Throws `UserError` as `solve_allocation`, `begin_run` and `load_encoded` do, for fresh weights, and for a quantized
/// or packed model; `Interrupted`.
JobResult allocate_formats(const AllocateJob& job, Context& context);

}  // namespace hone
