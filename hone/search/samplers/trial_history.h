#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/search/trial.h"

namespace hone {

/// What a sampler remembers of the trials of a study from one call to the next, by columns, so that a call looks at what is new
/// alone. What it says depends on the last view only, not on the views before.
class TrialHistory {
 public:
  /// A trial that counts: complete, pruned or running.
  struct Row {
    const Trial* trial = nullptr;
    std::int64_t number = -1;
    TrialState state = TrialState::running;
    std::uint32_t parameter_set = 0;  ///< trials with the same names share a number
    std::vector<double> losses = {};  ///< of a complete one, one for each objective
    double violation = 0;
    bool reported = false;
    std::int64_t last_step = 0;
    double last_report = 0;  ///< as a loss; infinite where it is no number
  };
  /// One parameter in all rows.
  struct Column {
    std::vector<Distribution> distributions = {};    ///< all that it ever had
    std::vector<std::int32_t> distribution_of = {};  ///< by row; -1: the trial has it not
    std::vector<double> values = {};                 ///< by row; internal ones
    std::vector<std::uint32_t> by_value = {};        ///< rows that have it, by value, then number
  };

  /// Takes up a view. `running`: with the trials that run and have parameters.
  void observe(const StudyView& study, bool running);

  /// Rows of the finished trials in the view, and of those that run, each by number.
  std::span<const std::uint32_t> finished() const { return finished_; }
  std::span<const std::uint32_t> running() const { return running_; }
  const Row& row(std::uint32_t index) const { return rows_[index]; }
  std::size_t row_count() const { return rows_.size(); }
  /// Null: no row ever had it.
  const Column* column(const std::string& name) const;

 private:
  void forget();
  void drop_running();
  std::uint32_t add(const Trial& trial);
  void add_running(const Trial& trial);
  void put(std::uint32_t row, const std::string& name, const Distribution& distribution,
           double value);

  std::vector<Direction> directions_;
  std::vector<Row> rows_;  ///< of finished trials ever seen, then of those that run
  std::unordered_map<const Trial*, std::uint32_t> row_of_;
  std::map<std::string, Column> columns_;
  std::map<std::vector<std::string>, std::uint32_t> parameter_sets_;
  std::vector<std::uint32_t> finished_, running_;
};

}  // namespace hone
