#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/fine_tune.h"
#include "hone/jobs/format_verdicts.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/models/model_size.h"
#include "hone/models/vocabulary.h"
#include "hone/search/search.h"
#include "hone/study/gates.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"
#include "hone/train/calibration.h"

namespace hone {

/// A process that runs trials of a study.
struct SearchWorker {
  std::size_t number = 0;  ///< from 0
  std::string storage;     ///< of the study it joins
  int threads = 1;
};

/// A request to search over compressed versions of a model.
struct SearchJob {
  std::string model;            ///< as `open_model` takes it
  std::string recipe;           ///< path of the space (jobs/search/search_recipe.h)
  std::string space = {};       ///< the text of the space, instead of a file
  std::string sampler = "tpe";  ///< one of `sampler_names`
  TpeProfile profile = TpeProfile::optuna_5;
  std::string pruner = "none";  ///< one of `pruner_names`
  std::string study = "search";
  /// As `open_storage` takes it; empty: study.db in the output folder.
  std::string storage = {};
  bool join = false;         ///< joins an existing study, and writes no folder
  std::int64_t workers = 1;  ///< processes on this machine
  /// Trials at once, joined workers included, which sampling depends on; 0: `workers`, or that of the joined study.
  std::int64_t concurrency = 0;
  /// Options of the study, without directions, space and concurrency.
  SearchOptions budget = {};
  JobData data = {};
  FineTuneOptions training = {};  ///< defaults for the recipe's settings
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the split on which the winner is reported, see `evaluation_examples`
  VocabularyRules vocabulary = {};
  fs::path cache = {};  ///< trial cache; empty: no cache
  bool resume = false;
  GateOptions gates =
      {};  ///< the allowed drops against the baseline; trials beyond them are infeasible
  std::uint64_t seed = 42;
  /// Seed of the sampler only; none: `seed`. Studies that differ only in this choose among the same trials.
  std::optional<std::uint64_t> sampler_seed = {};
  bool row_hashes = true;
  JobOutput output;
  Invocation invocation = {};
  /// Returns the arguments of the command that a worker runs.
  std::function<std::vector<std::string>(const SearchWorker& worker)> worker_arguments = {};
};

std::vector<std::string> sampler_names();
std::vector<std::string> pruner_names();

/// Fields common to the results of searches that began a study.
struct FinishedSearch {
  SubjectResult subject;
  std::string study, sampler, pruner;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1, workers = 1;
  EndReason ended_by = EndReason::trials;
  TrialCounts trials = {};
  std::vector<ObjectiveResult> objectives = {};
  std::vector<std::int64_t> front = {}, excluded_by_gates = {};
  std::vector<std::string> dead_parameters = {};
  MeasuredSplitResult chosen_on = {};
};
/// The trial that won.
struct SearchWinner {
  std::int64_t number = -1, runs = 1;
  double mean = 0;
  std::vector<double> values = {};
  Json parameters = {}, configuration = {};
  std::map<std::string, std::optional<double>> metrics = {};
};
/// The machine-readable result.
struct SearchFields {
  FinishedSearch search;
  SearchWinner best = {};
  EvaluationResult validation = {};
  ModelSize size = {};
  std::optional<ModelSize> size_before = {};
  std::vector<ModelTimes> times = {};
  int threads = 1;
  std::optional<EvaluationResult> before = {};
  EvaluationResult after = {};
  std::optional<ComparisonResult> comparison = {};
  std::vector<DegradedClassResult> degraded_classes = {};
  std::optional<GateResult> gate = {};
  std::optional<FormatVerdictsResult> verdicts = {};
};
/// The result of a search in which no trial passes the gates.
struct NoWinnerFields {
  FinishedSearch search;
  GateResult gate = {};
};
/// The result of a search that joined a study.
struct JoinedSearchFields {
  EndReason ended_by = EndReason::trials;
  std::int64_t trials_run = 0;
};
const Fields& fields_of(const FinishedSearch*);
const Fields& fields_of(const SearchWinner*);
const Fields& fields_of(const SearchFields*);
const Fields& fields_of(const NoWinnerFields*);
const Fields& fields_of(const JoinedSearchFields*);

/// Runs trials of the study, in this process or several, until a budget is spent. Writes the best model with its
/// weights to `output`/best, evaluated once on the reported split, and a report. If the gates exclude every trial,
/// writes only the report, with a `gate` that is not passed. Known results come from the cache.
///
/// Throws `UserError` as `parse_search_recipe`, `check_recipe`, `open_storage` and `begin_run` do, for an existing
/// study without `resume`, and for one with another model, data or recipe, listing the differences; `Interrupted`.
JobResult search_models(const SearchJob& job, Context& context);

}  // namespace hone
