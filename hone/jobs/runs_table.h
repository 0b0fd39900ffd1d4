#pragma once

#include "hone/jobs/runs.h"
#include "hone/report/table.h"

/// The rows of many runs as one table.
namespace hone {

/// Runs that can be ranked, because they were measured on the same examples. Without fingerprints, as in older folders, as many
/// examples of the same split of the same data are taken for the same.
struct RunGroup {
  std::string data;
  std::string data_hash;      ///< "": unknown
  std::string part;           ///< "": unknown
  std::int64_t n = 0;         ///< 0: unknown
  std::string texts_hash;     ///< "": unknown
  double majority_share = 0;  ///< of the most frequent class; NaN: unknown
};

struct RankedRuns {
  std::vector<Json> rows;        ///< each with its `group`, from 1
  std::vector<RunGroup> groups;  ///< in their order of appearance
};

/// The rows of all folders, in their order; with a `sort_key` sorted by its value within each group, rows without a value last.
/// A key is one of a row or of its settings; "accuracy" stands for "eval_accuracy", as for all metrics. Throws `UsageError`
/// for one that no row has.
RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse);

/// The columns called `columns`, or by default the metrics and settings in which rows differ. Values that are the same in all
/// rows go to `common` ("part: test"), those that are the same within each group to `groups_note`. Throws `UsageError` for a
/// column that no row has.
Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common);

/// A sentence that lists the groups; "" for one.
std::string groups_note(const RankedRuns& runs);

}  // namespace hone
