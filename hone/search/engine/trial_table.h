#pragma once

#include <memory>
#include <vector>

#include "hone/search/search.h"

/// The trials of a study in its storage, and the subset that a trial may know, so that results do not depend on which
/// worker is faster.
namespace hone {

/// Ordered by number; finished trials keep their address in memory.
using TrialTable = std::vector<std::shared_ptr<const Trial>>;

std::int64_t next_number(const TrialTable& table);
/// Returns null if there is no trial with this number.
const Trial* trial_numbered(const TrialTable& table, std::int64_t number);

/// Returns the number in an attribute; none if it has none.
std::optional<std::int64_t> number_in(const std::map<std::string, Json>& attributes,
                                      const std::string& key);

/// Rule for which trials another one waits for.
struct WaitRule {
  std::int64_t concurrency = 1;
  /// Whether its values depend on those of concurrent trials, so that these must have theirs first.
  bool draws = true;
  /// Running trials of other programs that started before this time are not waited for: their program may have died.
  std::string foreign_start = {};
};

/// Returns whether a trial with this number may begin: trials whose numbers are lower by at least `concurrency` must
/// be finished, those in between must have parameters. Waiting trials are ignored, because the lowest number is
/// claimed first.
bool may_begin(const TrialTable& table, std::int64_t number, const WaitRule& rule);

/// The trials that a trial with a given number knows: those that finished and whose numbers are lower by at least
/// `concurrency`, and the others in the state in which they began. Valid as long as the table.
class KnownTrials {
 public:
  KnownTrials(const Study& study, const TrialTable& table, std::int64_t number,
              const SearchOptions& options);
  const StudyView& all() const { return view_; }

 private:
  StudyView view_;
  std::vector<std::unique_ptr<Trial>> begun_;
};

/// Returns the trials without those that another one continues, and without repeats.
StudyView points_of(const StudyView& all);
/// Returns the finished trials, which pruners see.
StudyView finished_of(const StudyView& view);

/// Shows failed trials to samplers as pruned ones that violate a constraint by 1. These keep their address in memory.
class PenalizedFailures {
 public:
  /// Replaces failed trials in `view`; removes those without parameters, and those that are run again.
  void show(StudyView& view);

 private:
  std::map<std::int64_t, std::unique_ptr<Trial>> shown_;
};

}  // namespace hone
