#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/search/trial.h"

namespace hone {

/// A columnar cache of the trials of a study, so that each call only processes new trials. Its contents depend only
/// on the last view, not on those before.
class TrialHistory {
 public:
  /// A trial that is used: complete, pruned or running.
  struct Row {
    const Trial* trial = nullptr;
    std::int64_t number = -1;
    TrialState state = TrialState::running;
    std::uint32_t parameter_set = 0;  ///< trials with the same parameters share a number
    std::vector<double> losses = {};  ///< one per objective, if complete
    double violation = 0;
    bool reported = false;
    std::int64_t last_step = 0;
    double last_report = 0;  ///< as a loss; infinite if NaN
  };
  struct Column {
    std::vector<Distribution> distributions = {};    ///< all distributions that it has had
    std::vector<std::int32_t> distribution_of = {};  ///< by row; -1: the trial does not have it
    std::vector<double> values = {};                 ///< internal values by row
    std::vector<std::uint32_t> by_value = {};        ///< rows that have it, by value, then number
  };

  /// Updates the history to a view. `running`: includes running trials that have parameters.
  void observe(const StudyView& study, bool running);

  /// Rows of the finished and of the running trials in the view, by number.
  std::span<const std::uint32_t> finished() const { return finished_; }
  std::span<const std::uint32_t> running() const { return running_; }
  const Row& row(std::uint32_t index) const { return rows_[index]; }
  std::size_t row_count() const { return rows_.size(); }
  /// Returns null if no row ever had the parameter.
  const Column* column(const std::string& name) const;

 private:
  void forget();
  void drop_running();
  std::uint32_t add(const Trial& trial);
  void add_running(const Trial& trial);
  void put(std::uint32_t row, const std::string& name, const Distribution& distribution,
           double value);

  std::vector<Direction> directions_;
  std::vector<Row> rows_;  ///< of all finished trials seen, then of running ones
  std::unordered_map<const Trial*, std::uint32_t> row_of_;
  std::map<std::string, Column> columns_;
  std::map<std::vector<std::string>, std::uint32_t> parameter_sets_;
  std::vector<std::uint32_t> finished_, running_;
};

}  // namespace hone
