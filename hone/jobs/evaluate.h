#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/models/model_size.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {

/// A model to evaluate, and the examples to use.
struct EvaluateJob {
  std::string model;         ///< see `open_model`
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none
  JobData data = {};
  std::string split = {};  ///< to measure on, see `evaluation_examples`
  std::int64_t batch_size = 32;
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: no report
  Invocation invocation = {};  ///< for the report
};

/// A model in bf16 or fp16 compared with itself in fp32, on the same texts.
struct Fp32Comparison {
  ComparedModel fp32, half;
  Verdict verdict;

  /// "bf16 against fp32, test, n = 4,000: accuracy changed by …"
  std::string headline(const MeasuredSplit& split) const;
};

/// The JSON result.
struct EvaluateFields {
  SubjectResult subject;
  std::optional<std::string> adapter = {};
  double average_weight_bits = 0;
  std::string arithmetic;
  std::optional<std::string> format = {};
  EvaluationResult measured = {};
  std::optional<EvaluationResult> in_fp32 = {};
  std::optional<ComparisonResult> comparison = {};
  ModelSize size = {};
};
const Fields& fields_of(const EvaluateFields*);

struct EvaluateResult : JobResult {
  Measurement measured;
};

/// Measures a model on a split of a dataset, and writes a report if `output` has a folder. Throws `UserError`.
EvaluateResult evaluate_model(const EvaluateJob& job, Context& context);

}  // namespace hone
