#pragma once

#include "hone/jobs/runs.h"
#include "hone/report/table.h"

/// The rows of many runs as one table.
namespace hone {

/// Runs whose figures may be ranked: measured on the same texts. Where it is unknown which these were, as of folders
/// before their fingerprint was kept, as many texts of the same part of the same data are taken for the same.
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
  std::vector<RunGroup> groups;  ///< in the order in which they come
};

/// The rows of all folders, in their order; sorted by the value of `sort_key` when there is one, groups apart, what has
/// no value last. A key is one of a row or of its settings; "accuracy" stands for "eval_accuracy", as for all figures.
/// Throws `UsageError` for one that no row has.
RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse);

/// The columns called `columns`, or if there are none those that tell the rows apart: of figures and of settings. What
/// is the same in all rows goes to `common` ("part: test"), what is the same in all of each group to `groups_note`. Throws `UsageError` for a column that no row has.
Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common);

/// A sentence that says that there are several groups, and which; "" when there is one.
std::string groups_note(const RankedRuns& runs);

}  // namespace hone
