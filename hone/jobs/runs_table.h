#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/runs.h"
#include "hone/report/table.h"

/// One table of many runs.
namespace hone {

/// Runs that can be ranked, because they were measured on the same examples. Without fingerprints, as of interrupted
/// runs, examples are assumed equal if data, split and number are the same.
struct RunGroup {
  std::int64_t group = 0;  ///< from 1
  std::optional<std::string> data = {}, data_hash = {}, split = {};
  std::optional<std::int64_t> n = {};
  std::optional<std::string> examples_hash = {};
  std::optional<double> majority_share = {};  ///< share of the most frequent class
};
const Fields& fields_of(const RunGroup*);

struct RankedRuns {
  std::vector<RunRow> rows;      ///< each with its `group`
  std::vector<RunGroup> groups;  ///< groups with metrics first, each kind in order of appearance
};

/// Returns the rows of all folders in order. With a `sort_key`, rows are sorted by its value within each group, rows
/// without a value last. A key is a member of `RunRow` or one of its settings; metrics work without "eval_":
/// "accuracy". Throws `UsageError` for a key that no row has.
RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse);

/// Returns the columns called `columns`. By default these are few: what the runs were, their metric, size and latency
/// and, if all runs used one command, the settings in which they differ. Values that are the same in all rows go to
/// `common` ("Command: train"). Throws `UsageError` for a column that no row has.
Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common);

/// Returns a sentence with the split, data and n of each group that has metrics, or "".
std::string groups_note(const RankedRuns& runs);

/// Returns a sentence with the cautions about metrics and the runs that they apply to, or "".
std::string cautions_note(const RankedRuns& runs);

}  // namespace hone
