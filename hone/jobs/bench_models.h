#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/paired_times.h"

/// Compares the latency of models, which run the same work in turn.
namespace hone {

struct ModelsJob {
  /// Folders, or names of fresh models; the first is the baseline.
  std::vector<std::string> models;
  BenchOptions options = {};  ///< `runs`: rounds; 0: see `rounds_in_time`
  std::uint64_t seed = 42;
};

/// Times of one model, in milliseconds per batch. All models take turns, with new buffers and packed weights in each
/// round (`rounds_with_fresh_setup`). Short runs are timed many in a row.
struct ModelRounds {
  std::string model;
  std::string_view arithmetic = kFloat;    ///< see `arithmetic_of_run`
  std::optional<std::string> format = {};  ///< of its quantizers
  std::int64_t weight_bytes = 0;           ///< in memory
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::vector<double> rounds_ms = {};  ///< of each round, in order
  Speedup speedup = {};                ///< over the first model

  std::int64_t timed_runs() const { return std::ssize(rounds_ms); }
};
const Fields& fields_of(const ModelRounds*);

/// The JSON result.
struct BenchModelsFields {
  std::string what, device;
  int threads = 0;
  std::int64_t batch = 0, tokens = 0;
  std::vector<ModelRounds> models = {};
};
const Fields& fields_of(const BenchModelsFields*);

struct ModelsResult : JobResult {
  std::vector<ModelRounds> models;
};

/// Times models on random ids without padding, as long as all of them support, or on random images. Throws `UserError`
/// like `bench`, for images of different sizes, and for a mix of texts and images; `Interrupted`.
ModelsResult bench_models(const ModelsJob& job, Context& context);

}  // namespace hone
