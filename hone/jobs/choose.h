#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/comparison_table.h"
#include "hone/study/gates.h"
#include "hone/study/result.h"

namespace hone {

/// Models to choose from, and the examples that decide.
struct ChooseJob {
  std::vector<std::string> models;  ///< see `open_model`
  JobData data = {};
  std::string split = "validation";  ///< split that decides
  std::int64_t batch_size = 32;
  /// Choose the smallest model, in packed bytes, that is not shown to be worse than the best; otherwise the best.
  bool smallest = false;
  /// With `smallest`: consider only models shown to pass these, each compared with the best by the gate's metric.
  GateOptions gates = {};
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: no report
  Invocation invocation = {};  ///< for the report
};

/// A model to choose from, in results.
struct ChoiceCandidateResult {
  MeasuredModelResult measured;
  std::int64_t packed_bytes = 0;
  bool eligible = true;  ///< to be the smallest
  std::optional<GateResult> gate = {};
};
/// The JSON result.
struct ChooseFields {
  SubjectResult subject;  ///< of the chosen model
  std::string chosen, best, rule;
  std::int64_t seeds = 1;
  std::string summary;
  std::vector<DegradedClassResult> degraded_classes = {};
  std::vector<ChoiceCandidateResult> models = {};
};
const Fields& fields_of(const ChoiceCandidateResult*);
const Fields& fields_of(const ChooseFields*);

/// Evaluates the models on the same examples and chooses the best by the task's metric, or the smallest that is not
/// worse. Paired comparison with the best on the same examples makes small differences count. `gate`: whether any model
/// passes all gates. Throws `UserError` like `open_model`, `load_measured` and `measure_models`.
JobResult choose_model(const ChooseJob& job, Context& context);

}  // namespace hone
