#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/shrink/shrink_plan.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

namespace hone {

/// A trained model that is to become as small and fast as it can while it is shown to keep what it is judged by.
struct ShrinkJob {
  std::string model;  ///< as `open_model` takes it; trained, not quantized
  ShrinkGoal goal = ShrinkGoal::both;
  GateOptions gates = {.usual_drop_points = 0.5};  ///< what may be lost
  double budget_seconds =
      1800;                 ///< after which nothing begins; what an interrupted run took counts
  std::int64_t looks = 10;  ///< at the validation part, at most: verdicts are corrected for so many
  std::string recipe = {};  ///< path of a space in place of `shrink_space`; empty: that one
  std::vector<std::string> only = {};  ///< of `shrink_means`; empty: all
  /// Globs: linears and tables that one names keep weights, shapes and formats.
  std::vector<std::string> freeze = {};
  /// The result is judged as `transformers` computes it, from a folder that it loads: `for_other_programs`.
  bool loadable = false;
  JobData data = {};
  std::string split = {};  ///< the part on which the result is reported, see `measured_texts`
  std::int64_t eval_batch_size = 32;
  fs::path cache = {};  ///< store of trainings; empty: none is kept or taken
  bool resume = false;
  std::uint64_t seed = 42;
  bool row_hashes = true;
  JobOutput output = {};
  Invocation invocation = {};
};

/// Takes from a model what costs it least, step by step: tokens that the training part does not use, heads, neurons and layers, with
/// training on what the model itself says of the training texts, and bits of weights, until nothing that is left is likely to be kept and
/// to gain 1%, or the budget is spent. A step stays only where the validation part shows that it passes all gates (`judge`). The result is
/// packed, its products are of codes; it is measured once on the part that is reported and lies in `output`/model, or, where
/// nothing was shown to be kept, the most promising in `output`/unproven; with `loadable` its fp32 copy, which is what was judged, in
/// `output`/transformers or `output`/unproven-transformers. Every point is a trial of the study in `output`/study.db, whose space
/// `output`/space.toml `hone search` takes as well.
///
/// Throws `UserError`: as `open_subject`, `parse_search_recipe` and `begin_run` do, for fresh weights, for a model that is quantized or
/// packed, and with `loadable` for one that `transformers` does not load; `Interrupted`.
JobResult shrink_model(const ShrinkJob& job, Context& context);

}  // namespace hone
