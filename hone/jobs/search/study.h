#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/progress.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// What is to be known of studies in a storage, or done to one: hone's, and any other that Optuna's tables hold.
struct StudyJob {
  /// As `open_storage` takes it; of a search that still runs the path that its study will have, too. Empty with `beside`.
  std::string storage;
  /// More of them, all of whose studies are laid beside those of the first; each is called by its folder.
  std::vector<std::string> beside = {};
  /// None: a row of all; one: all of it; several: beside each other.
  std::vector<std::string> studies = {};
  std::string export_file = {};  ///< .csv or .json: all trials of one study; empty: none
  /// Where a copy that Optuna 3.0 and 3.1 open is to be written; empty: none.
  std::string for_optuna_3_1 = {};
  bool remove = false;  ///< deletes one study, with its trials
  /// Whether to do so, by a question that says what goes. Null: nobody is asked.
  std::function<bool(const std::string& question)> may_remove = {};
  JobOutput output = {};  ///< a folder with report, figures and trials.csv; empty: none
};

struct StudyResult {
  Json fields = {};  ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};
};

/// Throws `UserError`: as `open_storage`, which must be there; studies that are not (naming those that are), several that have not one
/// objective of one direction, files and folders that may not be written.
StudyResult tell_studies(const StudyJob& job, const Context& context);

}  // namespace hone
