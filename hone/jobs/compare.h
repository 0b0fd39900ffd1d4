#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/metrics/verdict.h"
#include "hone/models/model_size.h"
#include "hone/study/comparison_table.h"
#include "hone/study/gates.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {

/// Two models to compare, and the texts to use.
struct CompareJob {
  std::string first,
      second;  ///< see `open_model`, or folders of repeated jobs with the same seeds
  /// Adapter folders, each trained on the base model that it is applied to; empty: none. Not supported for folders of
  /// seeds.
  std::string first_adapter = {}, second_adapter = {};
  JobData data = {};
  std::string split = {};  ///< to measure on, see `evaluation_examples`
  std::int64_t batch_size = 32;
  std::int64_t texts = 20;  ///< maximum number of examples with changed predictions to show
  GateOptions gates = {};   ///< limits of what the second model may lose
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: no report
  Invocation invocation = {};  ///< for the report

  /// Names of the models in sentences: "my-model with my-adapter".
  std::string first_name() const;
  std::string second_name() const;
  /// Names that differ, for the rows of a table: "my-model (A)" if a model is compared with itself.
  std::string first_label() const;
  std::string second_label() const;
};

/// Models A and B and their comparison, in results.
struct TwoModelsResult {
  NamedMetrics a = {}, b = {};
  ModelSize size_before = {}, size = {};  ///< of A, of B
  ComparisonResult comparison = {};
};
/// An example that two models predict differently, in results.
struct ChangedExampleResult {
  std::int64_t example = 0;  ///< index in the measured split, from 0
  std::string label, a, b;   ///< the label and both predictions
  double swing = 0;          ///< see `Flip`
  std::string text;
};
/// The JSON result.
struct CompareFields {
  SubjectResult subject;  ///< of model B
  std::string baseline;
  std::optional<std::string> adapter = {}, baseline_adapter = {};
  std::int64_t seeds = 1;
  TwoModelsResult models = {};
  std::vector<ChangedExampleResult> changed = {};
  std::vector<DegradedClassResult> degraded_classes = {};
  std::optional<GateResult> gate = {};
};
/// The two models of one of several seeds.
struct CompareRunResult {
  std::int64_t seed = 0;
  TwoModelsResult models = {};
  std::vector<DegradedClassResult> degraded_classes = {};
  std::optional<GateResult> gate = {};
};
/// The result of several seeds.
struct CompareSeedsFields {
  SubjectResult subject;
  std::string baseline;
  std::int64_t seeds = 0;
  std::vector<CompareRunResult> runs = {};
  SeedSpreads spreads = {};
  SeedChangeResult change = {};
  std::optional<GateResult> gate = {};
};
const Fields& fields_of(const TwoModelsResult*);
const Fields& fields_of(const ChangedExampleResult*);
const Fields& fields_of(const CompareFields*);
const Fields& fields_of(const CompareRunResult*);
const Fields& fields_of(const CompareSeedsFields*);

struct CompareResult : JobResult {
  Verdict verdict;  ///< whether the second is within the limit of the first
};

/// Measures two models, or those of all seeds of two repeated jobs, on the same texts, and reports what changed from
/// the first to the second. Callers that set `gates` have to check `gate`. Throws `UserError` like `open_model`,
/// `load_measured` and `compare_models` of two models.
CompareResult compare_models(const CompareJob& job, Context& context);

}  // namespace hone
