#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/runs_table.h"
#include "hone/runtime/context.h"

namespace hone {

/// Runs to compare in one table.
struct RunsJob {
  std::vector<std::string> folders;  ///< see `read_runs`
  std::string sort = {};  ///< column or setting to sort by, see `rank_runs`; empty: unsorted
  bool reverse = false;   ///< highest first
  std::vector<std::string> columns = {};  ///< to show; empty: those that differ
  std::string html = {};   ///< page to write: an .html file, or a folder; empty: no page
  bool overwrite = false;  ///< replace existing files
  std::string title = {};  ///< of the page
};

/// The JSON result.
struct RunsFields {
  std::vector<RunRow> runs = {};
  std::vector<RunGroup> groups = {};
  std::vector<SkippedPath> skipped = {};
};
const Fields& fields_of(const RunsFields*);

/// Reads the output folders of earlier jobs, compares their results in one table, and writes a page if one is
/// requested. Warns about skipped folders. Throws `UserError` like `read_runs`, and if there is no output folder;
/// `UsageError` like `rank_runs` and `runs_table`.
JobResult list_runs(const RunsJob& job, const Context& context);

}  // namespace hone
