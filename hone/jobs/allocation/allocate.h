#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/allocation/allocation_options.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/native/native_times.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"
#include "hone/train/calibration.h"
#include "hone/train/variants.h"

namespace hone {

/// Formats to be chosen for the linears of a model within a budget.
struct AllocateJob {
  std::string model;  ///< as `open_model` takes it; trained, not quantized
  AllocationRequest request = {};
  std::int64_t points = 12;  ///< of the front, that are measured
  std::int64_t swaps = 5;    ///< that are measured beside the best of them
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

struct AllocateResult {
  bool was_finished = false;
  Json fields = {};                                        ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};  ///< null where nothing was done
};

/// Measures what each option does to each linear alone on a sample of the part that choices are made on, solves for the exact front of
/// the sums, measures points of it as whole models, and swaps of two layers around the best of them, each a trial of a study in
/// `output`/study.db; chooses the one of the least divergence within the budgets, measures it once on the part that is reported, and
/// writes it to `output`/best, with its recipe, tables, a figure and a report.
///
/// Throws `UserError`: as `solve_allocation`, `begin_run` and `load_encoded` do, for fresh weights, and for a model that is quantized
/// or packed; `Interrupted`.
AllocateResult allocate_formats(const AllocateJob& job, Context& context);

}  // namespace hone
