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

/// How a model is to be measured.
struct EvaluateJob {
  std::string model;         ///< as `open_model` takes it
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none
  JobData data = {};
  std::string split = {};  ///< the part to measure on, see `measured_texts`
  std::int64_t batch_size = 32;
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report
};

/// What bf16 or fp16 does to a model: the model in fp32 beside it, on the same texts.
struct AgainstFp32 {
  ComparedModel full, halves;
  Verdict verdict;

  /// "bf16 against fp32, test, n = 4,000: accuracy changed by …"
  std::string headline(const MeasuredPart& part) const;
};

/// The result for programs.
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

/// Measures a model on a part of a data set; writes a report where one is wanted. Throws `UserError`.
EvaluateResult evaluate_model(const EvaluateJob& job, Context& context);

}  // namespace hone
