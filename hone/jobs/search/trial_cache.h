#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/store.h"
#include "hone/jobs/search/search_trial.h"

/// Results of trials, kept in the store of finished work: a configuration is computed once on one model, data and seed, whoever
/// asks for it again, by whatever sampler, seed or study.
namespace hone {

/// What is remembered of a trial that was run to its end.
struct TrialRecord {
  std::map<std::string, double> metrics = {};  ///< by `metric_names`, latency aside
  /// The metrics at each evaluation on the way, where somebody looked.
  std::vector<std::map<std::string, double>> evaluations = {};
  /// As a trial has them.
  std::map<std::string, std::vector<double>> intervals = {};
  Json allocated = {};
  double seconds = 0;  ///< it took
  std::optional<double> cpu_seconds =
      {};  ///< all processors spent on it; none: kept by an older program
};

class TrialCache {
 public:
  /// `store` empty: nothing is kept or found. The results are those of this subject and of `kNumerics`.
  TrialCache(const fs::path& store, const TrialSubject& subject);

  /// `watched`: with the metrics on the way.
  std::optional<TrialRecord> find(const TrialConfiguration& configuration, std::uint64_t seed,
                                  bool watched);
  /// What cannot be kept (a full disk) is told to nobody: it is computed again.
  void keep(const TrialConfiguration& configuration, std::uint64_t seed, bool watched,
            const TrialRecord& record);

  /// What was found on the way to trials of this subject, by what it is of.
  std::optional<Json> find_finding(const Json& of);
  void keep_finding(const Json& of, const Json& finding);

  /// The trainings of trials. Weights of more than a two-hundredth of the store, which would soon push out all else, are kept only
  /// where `large` says so.
  TrainedWeights trainings(bool large);

  /// Whether anything is kept.
  bool keeps() const { return store_.has_value(); }
  /// Puts into `to` what a trial that was ended after so many evaluations has left to go on from, and returns the metrics of these.
  std::optional<std::vector<std::map<std::string, double>>> take_checkpoints(
      const TrialConfiguration& configuration, std::uint64_t seed, std::int64_t evaluations,
      const fs::path& to);
  /// Keeps it: all files in `from`.
  void keep_checkpoints(const TrialConfiguration& configuration, std::uint64_t seed,
                        const std::vector<std::map<std::string, double>>& evaluations,
                        const fs::path& from);

  /// The key of a trial in the store.
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
