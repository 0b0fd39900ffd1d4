#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/runs_table.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which runs are to be laid beside each other, and how.
struct RunsJob {
  std::vector<std::string> folders;  ///< see `read_runs`
  std::string sort = {};             ///< column or setting to sort by, see `rank_runs`; empty: not
  bool reverse = false;              ///< the highest first
  std::vector<std::string> columns = {};  ///< to show; none: those that differ
  std::string html = {};                  ///< page to write: a file .html, or a folder; empty: none
  bool overwrite = false;                 ///< that may be replaced
  std::string title = {};                 ///< of the page
};

struct RunsResult {
  RankedRuns ranked;
  std::vector<std::string> lines;  ///< what is the same in all rows, and whether they may be ranked
  Table table;
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Reads the output folders of earlier jobs, lays their results beside each other, and writes a page of them where one is
/// wanted. Tells the context what was skipped. Throws `UserError`, as `read_runs`, and where there is no output folder;
/// `UsageError`, as `rank_runs` and `runs_table`.
RunsResult list_runs(const RunsJob& job, const Context& context);

}  // namespace hone
