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
  std::string sort = {};             ///< column or setting to sort by, see `rank_runs`; empty: none
  bool reverse = false;              ///< the highest first
  std::vector<std::string> columns = {};  ///< to show; none: those that differ
  std::string html = {};   ///< page to write: an .html file, or a folder; empty: none
  bool overwrite = false;  ///< replace them
  std::string title = {};  ///< of the page
};

/// The result for programs.
struct RunsFields {
  std::vector<RunRow> runs = {};
  std::vector<RunGroup> groups = {};
  std::vector<SkippedPath> skipped = {};
};
const Fields& fields_of(const RunsFields*);

/// Reads the output folders of earlier jobs, compares their results in one table, and writes a page if one is asked for. Warns
/// of skipped folders. Throws `UserError`, as `read_runs`, and if there is no output folder; `UsageError`, as `rank_runs` and
/// `runs_table`.
JobResult list_runs(const RunsJob& job, const Context& context);

}  // namespace hone
