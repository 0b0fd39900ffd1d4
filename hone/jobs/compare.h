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

/// Which models are to be compared, and on which texts.
struct CompareJob {
  std::string first,
      second;  ///< as `open_model` takes them, or folders of repeated jobs with the same seeds
  /// Folders of adapters to put on them, each trained beside the weights it is put on; empty: none. Of models, not of seeds.
  std::string first_adapter = {}, second_adapter = {};
  JobData data = {};
  std::string split = {};  ///< the part to measure on, see `measured_texts`
  std::int64_t batch_size = 32;
  std::int64_t texts = 20;  ///< at most so many examples with a changed prediction are shown
  GateOptions gates = {};   ///< what the second may lose
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report

  /// The models as they are named in sentences: "my-model with my-adapter".
  std::string first_name() const;
  std::string second_name() const;
  /// The same where the two have to differ, as in the rows of a table: "my-model (A)" of a model beside itself.
  std::string first_label() const;
  std::string second_label() const;
};

/// Model A, model B and what lies between them, in results.
struct TwoModelsResult {
  NamedMetrics a = {}, b = {};
  ModelSize size_before = {}, size = {};  ///< of A, of B
  ComparisonResult comparison = {};
};
/// An example that two models predict differently, in results.
struct ChangedExampleResult {
  std::int64_t example = 0;  ///< its place in the measured split, from 0
  std::string label, a, b;   ///< the right answer and theirs
  double swing = 0;          ///< see `Flip`
  std::string text;
};
/// The result for programs.
struct CompareFields {
  SubjectResult subject;  ///< the model is B
  std::string baseline;
  std::optional<std::string> adapter = {}, baseline_adapter = {};
  std::int64_t seeds = 1;
  TwoModelsResult models = {};
  std::vector<ChangedExampleResult> changed = {};
  std::vector<LostClassResult> lost_classes = {};
  std::optional<GateResult> gate = {};
};
/// The two models of one of several seeds.
struct CompareRunResult {
  std::int64_t seed = 0;
  TwoModelsResult models = {};
  std::vector<LostClassResult> lost_classes = {};
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

/// Measures two models, or those of all seeds of two repeated jobs, on the same texts, and says what changed from the first
/// to the second. Whoever sets `gates` looks at `gate`. Throws `UserError`, as `open_model`, `load_measured` and
/// `compare_models` of two models do.
CompareResult compare_models(const CompareJob& job, Context& context);

}  // namespace hone
