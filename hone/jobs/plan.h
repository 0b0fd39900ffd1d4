#pragma once

#include <string>
#include <vector>

#include "hone/analysis/precision.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/recipe.h"
#include "hone/runtime/context.h"

namespace hone {

/// A recipe to resolve for a model.
struct PlanJob {
  std::string model;  ///< as `open_model` takes it
  Recipe recipe = {};
  std::int64_t
      batch = 8,
      tokens =
          0;  ///< batch size and tokens per text, for the sizes of inputs; 0: see `tokens_of_run`
  std::uint64_t seed = 42;
};

struct PlanResult : JobResult {
  std::vector<PlannedTensor> tensors;  ///< every quantized operand
  PlannedSize size;                    ///< of the parameters
  double average_weight_bits = 32;     ///< see `weight_bits`
};

/// Lists the format of each operand of each layer and the size of the quantized model, without computing it. Throws
/// `UserError`, as `open_model`, `resolve` and `whole_plan` do.
PlanResult plan_formats(const PlanJob& job, Context& context);

}  // namespace hone
