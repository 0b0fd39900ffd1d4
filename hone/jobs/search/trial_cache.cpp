#include "hone/jobs/search/trial_cache.h"

#include <cmath>

#include "hone/base/carry_over.h"
#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/ir/print.h"
#include "hone/jobs/run_identity.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

constexpr const char* kWeights = "weights.safetensors";

std::map<std::string, double> metrics_from(const Json& json) {
  std::map<std::string, double> metrics;
  for (const auto& [name, value] : json.items())
    if (value.is_number()) metrics[name] = value.get<double>();
  return metrics;
}

std::vector<std::map<std::string, double>> evaluations_from(const Json& about) {
  std::vector<std::map<std::string, double>> evaluations;
  for (const Json& metrics : about.value("evaluations", Json::array()))
    evaluations.push_back(metrics_from(metrics));
  return evaluations;
}

Json to_json(const TrialRecord& record) {
  return {{"metrics", record.metrics},
          {"evaluations", record.evaluations},
          {"intervals", record.intervals},
          {"allocated", record.allocated},
          {"seconds", record.seconds},
          {"cpu_seconds", record.cpu_seconds ? Json(*record.cpu_seconds) : Json()}};
}

std::map<std::string, std::vector<double>> intervals_from(const Json& about) {
  std::map<std::string, std::vector<double>> intervals;
  const Json lists = about.value("intervals", Json::object());
  for (const auto& [name, list] : lists.items())
    for (const Json& number : list)
      intervals[name].push_back(number.is_number() ? number.get<double>() : std::nan(""));
  return intervals;
}

std::uintmax_t bytes_of(const ParameterStore& weights) {
  std::uintmax_t bytes = 0;
  for (const auto& [name, tensor] : weights.tensors()) bytes += tensor.size_bytes();
  return bytes;
}

}  // namespace

TrialCache::TrialCache(const fs::path& store, const TrialSubject& subject) {
  if (store.empty()) return;
  store_.emplace(store);
  const FineTuneOptions& training = subject.training;
  // With fresh weights, the subject's are only those of the first seed; each trial draws its own.
  Json shared = {
      {"model", run_identity(Json::object(), subject.baseline.model.parameters, subject.data)},
      {"config", subject.baseline.model.facts.config},
      {"graph", fingerprint(to_string(subject.baseline.model.graph))},
      {"fresh", subject.fresh},
      {"metrics", metric_names(subject)},
      {"eval_batch", training.eval_batch_size},
      {"calibration",
       {subject.calibration.batch_count, subject.calibration.batch_size,
        static_cast<int>(subject.calibration.options.rule)}}};
  if (!subject.computed_by.empty()) shared["computed_by"] = subject.computed_by;
  for (const Gate& gate : subject.gates) shared["gates"].push_back(gate.text);
  subject_ = fingerprint(to_line(shared));
}

std::string TrialCache::key(const TrialConfiguration& configuration, std::uint64_t seed,
                            bool watched) const {
  Json of = {{"trial", subject_},
             {"configuration", to_json(configuration)},
             {"seed", seed},
             {"watched", watched}};
  // Separates records of older versions, whose bytes include zeros.
  if (configuration.pruning || !configuration.sparsities.empty() ||
      !configuration.allocation.is_null())
    of["zeros"] = "left out";
  return fingerprint(to_line(of));
}

std::optional<TrialRecord> TrialCache::find(const TrialConfiguration& configuration,
                                            std::uint64_t seed, bool watched) {
  if (!store_) return std::nullopt;
  const std::optional<Json> about = store_->about(key(configuration, seed, watched));
  if (!about || !about->is_object() || !about->contains("metrics")) return std::nullopt;
  TrialRecord record{.metrics = metrics_from(about->at("metrics")),
                     .evaluations = evaluations_from(*about)};
  record.intervals = intervals_from(*about);
  record.allocated = about->value("allocated", Json());
  record.seconds = about->value("seconds", 0.0);
  if (const Json cpu = about->value("cpu_seconds", Json()); cpu.is_number())
    record.cpu_seconds = cpu.get<double>();
  return record;
}

void TrialCache::keep(const TrialConfiguration& configuration, std::uint64_t seed, bool watched,
                      const TrialRecord& record) {
  if (!store_) return;
  Json about = to_json(record);
  about["configuration"] = to_json(configuration);
  try {
    store_->put(key(configuration, seed, watched), {}, {}, about);
  } catch (const UserError&) {
    return;  // a full disk: it is computed again when needed
  }
}

std::string TrialCache::finding_key(const Json& of) const {
  return fingerprint(to_line({{"finding", of}, {"subject", subject_}}));
}

std::optional<Json> TrialCache::find_result(const Json& of) {
  if (!store_) return std::nullopt;
  const std::optional<Json> about = store_->about(finding_key(of));
  if (!about || !about->is_object() || !about->contains("finding")) return std::nullopt;
  return about->at("finding");
}

void TrialCache::store_result(const Json& of, const Json& finding) {
  if (!store_) return;
  try {
    store_->put(finding_key(of), {}, {}, {{"finding", finding}, {"of", of}});
  } catch (const UserError&) {
    return;  // a full disk: it is computed again when needed
  }
}

TrainingCache TrialCache::trainings(bool large) {
  return {.find = [this](const Json& of) { return find_trained(of); },
          .keep = [this, large](const Json& of,
                                const FinishedTraining& it) { keep_trained(of, it, large); }};
}

std::optional<FinishedTraining> TrialCache::find_trained(const Json& of) {
  if (!store_) return std::nullopt;
  const ScratchFolder scratch(store_->folder() / "trained");
  const fs::path folder = scratch.path() / "weights";
  const std::optional<Json> about = store_->take(finding_key({{"trained", of}}), folder);
  if (!about) return std::nullopt;
  // The memory mapping stays valid after the file is removed.
  return FinishedTraining{.weights = ParameterStore(read_safetensors(folder / kWeights).tensors),
                          .seconds = about->value("seconds", 0.0),
                          .cpu_seconds = about->value("cpu_seconds", 0.0)};
}

void TrialCache::keep_trained(const Json& of, const FinishedTraining& training, bool large) {
  constexpr std::uintmax_t kShareOfStore = 200;
  if (!store_) return;
  try {
    if (!large && bytes_of(training.weights) > store_->limit() / kShareOfStore) return;
    const ScratchFolder scratch(store_->folder() / "trained");
    write_safetensors(scratch.path() / kWeights, training.weights.tensors());
    store_->put(
        finding_key({{"trained", of}}), scratch.path(), {kWeights},
        {{"trained", of}, {"seconds", training.seconds}, {"cpu_seconds", training.cpu_seconds}});
  } catch (const UserError&) {
    return;  // a full disk: it is trained again when needed
  }
}

std::string TrialCache::checkpoint_key(const TrialConfiguration& configuration, std::uint64_t seed,
                                       std::size_t evaluations) const {
  return fingerprint(to_line(
      {{"checkpoints", key(configuration, seed, /*watched=*/true)}, {"evaluations", evaluations}}));
}

std::optional<std::vector<std::map<std::string, double>>> TrialCache::restore_checkpoints(
    const TrialConfiguration& configuration, std::uint64_t seed, std::int64_t evaluations,
    const fs::path& to) {
  if (!store_) return std::nullopt;
  const std::optional<Json> about =
      store_->take(checkpoint_key(configuration, seed, static_cast<std::size_t>(evaluations)), to);
  return about ? std::optional(evaluations_from(*about)) : std::nullopt;
}

void TrialCache::store_checkpoints(const TrialConfiguration& configuration, std::uint64_t seed,
                                   const std::vector<std::map<std::string, double>>& evaluations,
                                   const fs::path& from) {
  if (!store_) return;
  try {
    store_->put(checkpoint_key(configuration, seed, evaluations.size()), from, files_below(from),
                {{"evaluations", evaluations}, {"configuration", to_json(configuration)}});
  } catch (const UserError&) {
    return;  // if promoted, the trial starts from its beginning, with the same bits
  }
}

}  // namespace hone
