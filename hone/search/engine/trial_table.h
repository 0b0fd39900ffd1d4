#pragma once

#include <memory>
#include <vector>

#include "hone/search/search.h"

/// The trials of a study as they stand in its storage, and what of them one trial may know, so that it makes no difference which worker was
/// faster.
namespace hone {

/// By number; what is finished keeps its place in memory.
using TrialTable = std::vector<std::shared_ptr<const Trial>>;

/// The number that the next trial gets.
std::int64_t next_number(const TrialTable& table);
/// Null: there is none of that number.
const Trial* trial_numbered(const TrialTable& table, std::int64_t number);

/// The number in an attribute. None: it has none.
std::optional<std::int64_t> number_in(const std::map<std::string, Json>& attributes,
                                      const std::string& key);

/// What a trial waits for.
struct WaitRule {
  std::int64_t concurrency = 1;
  /// Whether its values depend on those of the trials that run beside it, so that these must have theirs.
  bool draws = true;
  /// When the oldest trial that is waited for began, of those that another program runs: earlier ones may have been left by a
  /// program that died.
  std::string stranger_start = {};
};

/// Whether a trial of that number may begin: those that are `concurrency` or more numbers before it are finished, those between have their
/// parameters. What waits is not waited for: who claims gets the lowest number.
bool may_begin(const TrialTable& table, std::int64_t number, const WaitRule& rule);

/// What a trial of a number knows of: trials that finished at least `concurrency` numbers before it, and others as they were when
/// they began. Valid as long as the table.
class KnownTrials {
 public:
  KnownTrials(const Study& study, const TrialTable& table, std::int64_t number,
              const SearchOptions& options);
  const StudyView& all() const { return view_; }

 private:
  StudyView view_;
  std::vector<std::unique_ptr<Trial>> begun_;
};

/// Without trials that another one goes on with, and without those that repeat another one.
StudyView points_of(const StudyView& all);
/// Those of them that are finished: what pruners see.
StudyView finished_of(const StudyView& view);

/// Failed trials as samplers see them: pruned ones that violate a constraint by 1. They keep their place in memory.
class PenalizedFailures {
 public:
  /// Replaces them in `view`; those without parameters, and those that are run again, are left out.
  void show(StudyView& view);

 private:
  std::map<std::int64_t, std::unique_ptr<Trial>> shown_;
};

}  // namespace hone
