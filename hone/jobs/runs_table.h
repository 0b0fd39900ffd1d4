#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/runs.h"
#include "hone/report/table.h"

/// The rows of many runs as one table.
namespace hone {

/// Runs that can be ranked, because they were measured on the same examples. Without fingerprints, as of interrupted runs, the same
/// number of examples of the same split of the same data are taken for the same.
struct RunGroup {
  std::int64_t group = 0;  ///< from 1
  std::optional<std::string> data = {}, data_hash = {}, split = {};
  std::optional<std::int64_t> n = {};
  std::optional<std::string> examples_hash = {};
  std::optional<double> majority_share = {};  ///< of the most frequent class
};
const Fields& fields_of(const RunGroup*);

struct RankedRuns {
  std::vector<RunRow> rows;      ///< each with its `group`
  std::vector<RunGroup> groups;  ///< those with metrics first, each kind in order of appearance
};

/// The rows of all folders, in their order; with a `sort_key` sorted by its value within each group, rows without a value last.
/// A key is one of `RunRow` or of its settings; "accuracy" stands for "eval_accuracy", as for all metrics. Throws `UsageError`
/// for one that no row has.
RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse);

/// The columns called `columns`, or by default few: what the runs were, their metric, size and latency, and of runs of one command
/// the settings in which they differ. Values of these that are the same in all rows go to `common` ("Command: train"). Throws
/// `UsageError` for a column that no row has.
Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common);

/// A sentence with the split, data and n of each group that has metrics; "" without any.
std::string groups_note(const RankedRuns& runs);

/// A sentence with the cautions that metrics are to be read with, and whose they are; "" without any.
std::string cautions_note(const RankedRuns& runs);

}  // namespace hone
