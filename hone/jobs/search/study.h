#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/progress.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/search/study_comparison.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/runtime/context.h"

namespace hone {

/// Studies in a storage to show, compare, export or delete: hone's own, and any in Optuna's tables.
struct StudyJob {
  /// As `open_storage` takes it; of a search that still runs the path that its study will have, too. Empty with `beside`.
  std::string storage;
  /// More storages, whose studies are compared with those of the first. Each study is named after its folder.
  std::vector<std::string> beside = {};
  /// None: a row for each study; one: details of it; several: a comparison.
  std::vector<std::string> studies = {};
  std::string export_file = {};  ///< .csv or .json: all trials of one study; empty: none
  /// Where a copy that Optuna 3.0 and 3.1 open is to be written; empty: none.
  std::string for_optuna_3_1 = {};
  bool remove = false;  ///< deletes one study, with its trials
  /// Asks whether to delete, with a question that names the study. Null: nobody is asked.
  std::function<bool(const std::string& question)> may_remove = {};
  JobOutput output = {};  ///< a folder with report, figures and trials.csv; empty: none
};

/// The best trial of a study of one objective.
struct StudyBest {
  std::int64_t number = -1;
  double value = 0;
  Json parameters = {};
};
/// A study in results.
struct StudyResult {
  std::string study;
  std::vector<ObjectiveResult> objectives = {};
  TrialCounts trials = {};
  std::optional<std::string> start = {}, last_activity = {};
  std::optional<StudyBest> best = {};
  std::vector<std::int64_t> front = {};
  std::vector<ParameterImportance> importances = {};
};
/// The result for programs.
struct StudyFields {
  std::string storage;
  std::vector<StudyResult> studies = {};
  bool deleted = false;
  std::optional<std::vector<StudyFamilyResult>> families = {};
  std::optional<StudyLeader> leader = {};
};
const Fields& fields_of(const StudyBest*);
const Fields& fields_of(const StudyResult*);
const Fields& fields_of(const StudyFields*);

/// Throws `UserError`: as `open_storage`, which must be there; studies that are not (naming those that are), several that have not one
/// objective of one direction, files and folders that may not be written.
JobResult tell_studies(const StudyJob& job, const Context& context);

}  // namespace hone
