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

/// Runs that were measured on the same examples, in results.
struct RunGroupResult {
  std::size_t group = 0;
  std::optional<std::string> data = {}, data_hash = {}, split = {};
  std::optional<std::int64_t> n = {};
  std::optional<std::string> examples_hash = {};
};
/// The result for programs, beside the `runs` themselves.
struct RunsFields {
  std::vector<RunGroupResult> groups = {};
  std::vector<SkippedPath> skipped = {};
};
const Fields& fields_of(const RunGroupResult*);
const Fields& fields_of(const SkippedPath*);
const Fields& fields_of(const RunsFields*);

struct RunsResult : JobResult {
  RankedRuns ranked;
};

/// Reads the output folders of earlier jobs, compares their results in one table, and writes a page if one is asked for. Warns
/// of skipped folders. Throws `UserError`, as `read_runs`, and if there is no output folder; `UsageError`, as `rank_runs` and
/// `runs_table`.
RunsResult list_runs(const RunsJob& job, const Context& context);

}  // namespace hone
