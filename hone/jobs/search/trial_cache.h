#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/store.h"
#include "hone/jobs/search/search_trial.h"

/// A cache of trial results in the store of finished work. A configuration is computed once for a model, data and seed,
/// across samplers and studies.
namespace hone {

/// The cached result of a completed trial.
struct TrialRecord {
  std::map<std::string, double> metrics = {};  ///< by `metric_names`, without latency
  /// The metrics at each evaluation during training, if it was watched.
  std::vector<std::map<std::string, double>> evaluations = {};
  /// As in `TrialModel`.
  std::map<std::string, std::vector<double>> intervals = {};
  Json allocated = {};
  double seconds = 0;                      ///< duration
  std::optional<double> cpu_seconds = {};  ///< CPU time; none: written by an older version
};

class TrialCache {
 public:
  /// Opens the cache for this subject and `kNumerics`. With an empty `store` nothing is stored or found.
  TrialCache(const fs::path& store, const TrialSubject& subject);

  /// Returns a cached result; `watched`: with the metrics during training.
  std::optional<TrialRecord> find(const TrialConfiguration& configuration, std::uint64_t seed,
                                  bool watched);
  /// Stores a result. Ignores write errors (a full disk), since it can be computed again.
  void keep(const TrialConfiguration& configuration, std::uint64_t seed, bool watched,
            const TrialRecord& record);

  /// Returns a cached intermediate result of this subject, by its key.
  std::optional<Json> find_result(const Json& of);
  void store_result(const Json& of, const Json& finding);

  /// Returns the cache of trainings. Weights of more than a two-hundredth of the store, which would soon evict all
  /// else, are stored only with `large`.
  TrainingCache trainings(bool large);

  /// Returns whether there is a store.
  bool keeps() const { return store_.has_value(); }
  /// Copies the checkpoints of a trial that was stopped after this many evaluations into `to`. Returns the metrics of
  /// these evaluations; none if there are no such checkpoints.
  std::optional<std::vector<std::map<std::string, double>>> restore_checkpoints(
      const TrialConfiguration& configuration, std::uint64_t seed, std::int64_t evaluations,
      const fs::path& to);
  /// Stores all files in `from` as checkpoints of a stopped trial.
  void store_checkpoints(const TrialConfiguration& configuration, std::uint64_t seed,
                         const std::vector<std::map<std::string, double>>& evaluations,
                         const fs::path& from);

  /// Returns the key of a trial in the store.
  std::string key(const TrialConfiguration& configuration, std::uint64_t seed, bool watched) const;

 private:
  std::string finding_key(const Json& of) const;
  std::optional<FinishedTraining> find_trained(const Json& of);
  void keep_trained(const Json& of, const FinishedTraining& training, bool large);
  std::string checkpoint_key(const TrialConfiguration& configuration, std::uint64_t seed,
                             std::size_t evaluations) const;

  std::optional<Store> store_;
  std::string subject_;  // fingerprints of model and data
};

}  // namespace hone
