#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/analysis/precision.h"
#include "hone/base/json.h"
#include "hone/jobs/recipe.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which formats a model would take.
struct PlanJob {
  std::string model;  ///< as `open_model` takes it
  Recipe recipe = {};
  std::int64_t
      batch = 8,
      tokens =
          0;  ///< texts of a run and tokens of a text, for the sizes of inputs; 0: see `tokens_of_run`
  std::uint64_t seed = 42;
};

struct PlanResult {
  std::vector<PlannedTensor> tensors;  ///< every operand that takes a format
  PlannedSize size;                    ///< of the parameters
  double average_weight_bits = 32;     ///< see `weight_bits`
  Json fields;                         ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Tells which operand of which layer takes which format, and what the model would take; nothing is computed. Throws
/// `UserError`, as `open_model`, `resolve` and `whole_plan` do.
PlanResult plan_formats(const PlanJob& job, Context& context);

}  // namespace hone
