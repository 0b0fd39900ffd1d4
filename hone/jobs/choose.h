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
  std::vector<std::string> models;  ///< as `open_model` takes them
  JobData data = {};
  std::string split = "validation";  ///< to choose on
  std::int64_t batch_size = 32;
  /// Choose the one with the fewest packed bytes of those not shown to be worse than the best; otherwise the best.
  bool smallest = false;
  /// With `smallest`: of those shown to pass these, each compared with the best by the gate's metric.
  GateOptions gates = {};
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report
};

/// A model to choose from, in results.
struct ChoiceCandidateResult {
  MeasuredModelResult measured;
  std::int64_t packed_bytes = 0;
  bool eligible = true;  ///< for its size
  std::optional<GateResult> gate = {};
};
/// The result for programs.
struct ChooseFields {
  SubjectResult subject;  ///< the model is the chosen one
  std::string chosen, best, rule;
  std::int64_t seeds = 1;
  std::string summary;
  std::vector<LostClassResult> lost_classes = {};
  std::vector<ChoiceCandidateResult> models = {};
};
const Fields& fields_of(const ChoiceCandidateResult*);
const Fields& fields_of(const ChooseFields*);

/// Evaluates the models on the same examples and chooses one: the best by the metric of the task, or the smallest that is not
/// worse. Every model is compared with the best on the same examples, so that small differences count. `gate`: whether any of
/// them passes all gates. Throws `UserError`, as `open_model`, `load_measured` and `measure_models` do.
JobResult choose_model(const ChooseJob& job, Context& context);

}  // namespace hone
