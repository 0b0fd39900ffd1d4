#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/run_report.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// What is to be known of studies in a storage, or done to one: hone's, and any other that Optuna's tables hold.
struct StudyJob {
  std::string storage;  ///< as `open_storage` takes it
  std::vector<std::string> studies =
      {};                        ///< none: a row of all; one: all of it; several: beside each other
  std::string export_file = {};  ///< .csv or .json: all trials of one study; empty: none
  std::string for_optuna_3_1 =
      {};               ///< where a copy that Optuna 3.0 and 3.1 open is to be written; empty: none
  bool remove = false;  ///< deletes one study, with its trials
  JobOutput output = {};  ///< a folder with report, figures and trials.csv; empty: none
  Invocation invocation = {};
};

struct StudyResult {
  Json fields = {};  ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};
};

/// Throws `UserError`: as `open_storage`, which must be there; studies that are not (naming those that are), several that have not one
/// objective of one direction, files and folders that may not be written.
StudyResult tell_studies(const StudyJob& job, const Context& context);

}  // namespace hone
