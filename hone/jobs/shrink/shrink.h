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

/// A request to make a trained model as small and fast as possible while its metric is shown to stay within a limit.
struct ShrinkJob {
  std::string model;  ///< as `open_model` takes it; trained, not quantized
  ShrinkGoal goal = ShrinkGoal::both;
  GateOptions gates = {.default_drop_points = 0.5};  ///< the allowed drops
  double budget_seconds = 1800;  ///< no candidate starts after it; time of interrupted runs counts
  std::int64_t max_evaluations =
      10;  ///< evaluation budget on the validation split; verdicts are corrected for it
  std::string recipe = {};             ///< path of a search space; empty: `shrink_space`
  std::vector<std::string> only = {};  ///< names from `shrink_methods`; empty: all
  /// Globs: matching linears and embedding tables keep weights, shapes and formats.
  std::vector<std::string> freeze = {};
  /// Judge the model that `transformers` loads and computes: `for_other_programs`.
  bool loadable = false;
  JobData data = {};
  std::string split = {};  ///< the split on which the result is reported, see `evaluation_examples`
  std::int64_t eval_batch_size = 32;
  fs::path cache = {};  ///< cache of trainings; empty: no cache
  bool resume = false;
  std::uint64_t seed = 42;
  bool row_hashes = true;
  JobOutput output = {};
  Invocation invocation = {};
};

/// Compresses a model step by step, the most promising step first. It removes tokens that the training split does not
/// use, heads, neurons, layers and blocks of weights, reduces the bits of weights, and trains with the model itself as
/// teacher. It ends when the budget is spent, or when no candidate is likely to be within the limit and 1% smaller or
/// faster. A step is kept only if the validation split shows that it passes all gates (`judge`).
///
/// The result is packed and native, measured once on the reported split and stored in `output`/model. If no candidate
/// is shown to be within the limit, the most promising one is stored in `output`/unproven. With `loadable`, the fp32
/// copy is judged, and stored in `output`/transformers or `output`/unproven-transformers. Every candidate is a trial
/// of the study in `output`/study.db; `hone search` accepts its space, `output`/space.toml.
///
/// Throws `UserError` as `open_subject`, `parse_search_recipe` and `begin_run` do, for fresh weights, for a quantized
/// or packed model, and with `loadable` for one that `transformers` cannot load; `Interrupted`.
JobResult shrink_model(const ShrinkJob& job, Context& context);

}  // namespace hone
