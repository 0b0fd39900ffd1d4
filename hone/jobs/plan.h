#pragma once

#include <string>
#include <vector>

#include "hone/analysis/precision.h"
#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/recipe.h"
#include "hone/runtime/context.h"

namespace hone {

/// A recipe to resolve for a model.
struct PlanJob {
  std::string model;  ///< see `open_model`
  Recipe recipe = {};
  std::int64_t batch = 8,
               tokens = 0;  ///< for the sizes of inputs; tokens per text, 0: see `tokens_of_run`
  std::uint64_t seed = 42;
};

/// One operand of a layer, in the result.
struct PlannedOperand {
  std::string layer, operation;
  Operand operand = Operand::input;
  std::vector<std::int64_t> shape = {};
  std::string format;
  double average_bits = 32;
  std::int64_t fp32_bytes = 0, packed_bytes = 0;
};
/// The JSON result.
struct PlanFields {
  std::string model;
  std::vector<PlannedOperand> operands = {};
  std::int64_t parameters = 0, quantized_parameters = 0;
  double average_weight_bits = 32;
  std::int64_t fp32_bytes = 0, packed_bytes = 0;
  std::string arithmetic;
};
const Fields& fields_of(const PlannedOperand*);
const Fields& fields_of(const PlanFields*);

struct PlanResult : JobResult {
  std::vector<PlannedTensor> tensors;  ///< every quantized operand
  PlannedSize size;                    ///< of the parameters
  double average_weight_bits = 32;     ///< see `weight_bits`
};

/// Lists the format of each operand of each layer and the size of the quantized model, without quantizing it. Throws
/// `UserError` like `open_model`, `resolve` and `combined_plan`.
PlanResult plan_formats(const PlanJob& job, Context& context);

}  // namespace hone
