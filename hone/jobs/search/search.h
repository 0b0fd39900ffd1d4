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

/// One of the processes that run the trials of a study.
struct SearchWorker {
  std::size_t number = 0;  ///< from 0
  std::string storage;     ///< of the study it joins
  int threads = 1;
};

/// A search over what can be done to a model.
struct SearchJob {
  std::string model;            ///< as `open_model` takes it
  std::string recipe;           ///< path of the space (jobs/search/search_recipe.h)
  std::string space = {};       ///< its text, in place of a file
  std::string sampler = "tpe";  ///< one of `sampler_names`
  TpeProfile profile = TpeProfile::optuna_5;
  std::string pruner = "none";  ///< one of `pruner_names`
  std::string study = "search";
  /// As `open_storage` takes it; empty: study.db in the output folder.
  std::string storage = {};
  bool join = false;  ///< takes part in a study that somebody else began, and writes no folder
  std::int64_t workers = 1;  ///< processes on this machine
  /// Trials at once that those to come are decided for, workers that join counted; 0: `workers`, and of a study that is joined what it was
  /// begun with.
  std::int64_t concurrency = 0;
  /// Of the study: directions, space and concurrency come from the recipe and the two before.
  SearchOptions budget = {};
  JobData data = {};
  FineTuneOptions training = {};  ///< what the recipe's settings are put on top of
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the part on which the winner is reported, see `measured_texts`
  VocabularyRules vocabulary = {};
  fs::path cache = {};  ///< store of trials; empty: none is kept or taken
  bool resume = false;
  GateOptions gates = {};  ///< what a trial may lose against the model: others are not feasible
  std::uint64_t seed = 42;
  /// Of what the sampler draws alone; none: `seed`. Studies of one seed and several of these have the same trials to choose from.
  std::optional<std::uint64_t> sampler_seed = {};
  bool row_hashes = true;
  JobOutput output;
  Invocation invocation = {};
  /// The words of the command that a worker runs.
  std::function<std::vector<std::string>(const SearchWorker& worker)> join_words = {};
};

std::vector<std::string> sampler_names();
std::vector<std::string> pruner_names();

/// What every search that began a study says of it.
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
/// The result for programs.
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
  std::vector<LostClassResult> lost_classes = {};
  std::optional<GateResult> gate = {};
  std::optional<FormatVerdictsResult> verdicts = {};
};
/// That of a search in which no trial passes the gates.
struct NoWinnerFields {
  FinishedSearch search;
  GateResult gate = {};
};
/// That of a search that joined a study.
struct JoinedSearchFields {
  EndReason ended_by = EndReason::trials;
  std::int64_t trials_run = 0;
};
const Fields& fields_of(const FinishedSearch*);
const Fields& fields_of(const SearchWinner*);
const Fields& fields_of(const SearchFields*);
const Fields& fields_of(const NoWinnerFields*);
const Fields& fields_of(const JoinedSearchFields*);

/// Runs trials of the study, in this process or several, until a budget is spent. Writes the best model with its weights to
/// `output`/best, evaluated once on the reported split, and a report; where gates exclude every trial, the report alone, with a `gate`
/// that is not passed. Trials with known results come from the cache.
///
/// Throws `UserError`: as `parse_search_recipe`, `check_recipe`, `open_storage`, `begin_run` do; for a study that is there already without
/// `resume`, and one whose model, data or recipe were others, naming what differs; `Interrupted`.
JobResult search_models(const SearchJob& job, Context& context);

}  // namespace hone
