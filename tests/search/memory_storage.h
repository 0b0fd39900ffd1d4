#pragma once

#include <chrono>
#include <mutex>

#include "hone/search/storage/storage.h"

/// Helpers for tests of the search engine.
namespace hone::testing {

/// A storage in memory, protected by a lock, whose contents tests can see.
class MemoryStorage : public StudyStorage {
 public:
  Study create_study(const std::string& name, const std::vector<Direction>& directions,
                     const StudyStart& start = {}) override {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : studies_)
      user_check(kept.study.name != name, "a study '{}' exists already", name);
    const Study study{static_cast<std::int64_t>(studies_.size()), name, directions,
                      start.user_attributes, start.system_attributes};
    studies_.push_back({study, {}});
    for (const Trial& trial : start.trials) insert(study.id, trial);
    return study;
  }
  std::optional<Study> find_study(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : studies_)
      if (kept.study.name == name) return kept.study;
    return std::nullopt;
  }
  std::vector<Study> studies() override { return {}; }
  void delete_study(std::int64_t) override { FAIL() << "no study is deleted"; }
  void set_study_attribute(std::int64_t study, AttributeOwner owner, const std::string& key,
                           const Json& value) override {
    const std::lock_guard lock(mutex_);
    Study& kept = studies_[static_cast<std::size_t>(study)].study;
    (owner == AttributeOwner::user ? kept.user_attributes : kept.system_attributes)[key] = value;
  }

  Trial create_trial(std::int64_t study, Trial trial) override {
    const std::lock_guard lock(mutex_);
    return insert(study, std::move(trial));
  }
  std::optional<Trial> create_numbered_trial(std::int64_t study, Trial trial) override {
    const std::lock_guard lock(mutex_);
    if (trial.number != static_cast<std::int64_t>(trials(study).size())) return std::nullopt;
    return insert(study, std::move(trial));
  }
  std::optional<Trial> claim_waiting(std::int64_t study,
                                     const std::map<std::string, Json>& user_attributes) override {
    const std::lock_guard lock(mutex_);
    for (Trial& trial : trials(study))
      if (trial.state == TrialState::waiting) {
        trial.state = TrialState::running;
        trial.start = utc_now();
        apply(trial, {.user_attributes = user_attributes});
        return trial;
      }
    return std::nullopt;
  }
  void write(std::int64_t trial, const TrialChange& change) override {
    const std::lock_guard lock(mutex_);
    apply(running(trial), change);
  }
  void finish(std::int64_t trial, const TrialEnd& end) override {
    const std::lock_guard lock(mutex_);
    Trial& kept = running(trial);
    apply(kept, end.change);
    kept.state = end.state;
    kept.values = end.values;
    kept.end = utc_now();
  }

  void record_heartbeat(std::int64_t trial) override {
    const std::lock_guard lock(mutex_);
    beats_[trial] = std::chrono::steady_clock::now();
  }
  std::vector<LostTrial> stale_trials(std::int64_t study, double grace_seconds) override {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> grace(grace_seconds);
    std::vector<LostTrial> silent;
    for (const Trial& trial : trials(study))
      if (trial.state == TrialState::running && beats_.contains(trial.id) &&
          std::chrono::steady_clock::now() - beats_[trial.id] > grace)
        silent.push_back({trial.id, trial.number});
    return silent;
  }

  void read_trials(std::int64_t study, std::vector<std::shared_ptr<const Trial>>& trials) override {
    const std::lock_guard lock(mutex_);
    const std::vector<Trial>& kept = this->trials(study);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (i == trials.size())
        trials.push_back(std::make_shared<Trial>(kept[i]));
      else if (!is_finished(trials[i]->state))
        trials[i] = std::make_shared<Trial>(kept[i]);
  }
  void close() override {}

  /// Returns all trials of the only study.
  std::vector<Trial> table() {
    const std::lock_guard lock(mutex_);
    return studies_.empty() ? std::vector<Trial>() : trials(0);
  }

 private:
  struct Kept {
    Study study;
    std::vector<Trial> trials;
  };

  std::vector<Trial>& trials(std::int64_t study) {
    return studies_[static_cast<std::size_t>(study)].trials;
  }
  // Ids encode study and number.
  static constexpr std::int64_t kMost = 1'000'000;
  Trial insert(std::int64_t study, Trial trial) {
    trial.number = static_cast<std::int64_t>(trials(study).size());
    trial.id = study * kMost + trial.number;
    if (trial.state != TrialState::waiting) trial.start = utc_now();
    trials(study).push_back(trial);
    return trial;
  }
  Trial& running(std::int64_t id) {
    Trial& trial = trials(id / kMost)[static_cast<std::size_t>(id % kMost)];
    if (trial.state != TrialState::running)
      throw FinishedTrialError(
          fmt::format("trial {} is {} already", trial.number, to_string(trial.state)));
    return trial;
  }
  static void apply(Trial& trial, const TrialChange& change) {
    if (trial.parameters.empty()) trial.parameters = change.parameters;
    for (const auto& report : change.reports) trial.reports.insert(report);
    for (const auto& [key, value] : change.user_attributes) trial.user_attributes[key] = value;
    for (const auto& [key, value] : change.system_attributes) trial.system_attributes[key] = value;
  }

  std::mutex mutex_;
  std::vector<Kept> studies_;
  std::map<std::int64_t, std::chrono::steady_clock::time_point> beats_;
};

}  // namespace hone::testing
