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

/// A request to show, compare, export or delete studies in a storage: those of hone, and any in Optuna's tables.
struct StudyJob {
  /// As `open_storage` takes it; for a running search also the final path of its study. May be empty with `others`.
  std::string storage;
  /// More storages to compare with the first one. Each study is named after its folder.
  std::vector<std::string> others = {};
  /// None: a row for each study; one: details of it; several: a comparison.
  std::vector<std::string> studies = {};
  std::string export_file = {};  ///< .csv or .json: all trials of one study; empty: none
  /// Path of a copy for Optuna 3.0 and 3.1; empty: none.
  std::string for_optuna_3_1 = {};
  bool remove = false;  ///< deletes one study, with its trials
  /// Asks the user whether to delete the study; null: deletes without asking.
  std::function<bool(const std::string& question)> confirm_removal = {};
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
/// The machine-readable result.
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

/// Runs the job. Throws `UserError` as `open_storage` does, for a missing storage, for missing studies (with the names
/// of existing ones), for several studies that do not have one objective with one direction, and for files and folders
/// that must not be overwritten.
JobResult manage_studies(const StudyJob& job, const Context& context);

}  // namespace hone
