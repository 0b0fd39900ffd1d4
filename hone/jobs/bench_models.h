#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"

/// Compares the latency of models, which run the same work in turn.
namespace hone {

struct ModelsJob {
  /// Folders, or names of fresh models. The first is the baseline.
  std::vector<std::string> models;
  BenchOptions options = {};  ///< `runs`: rounds; 0: as `rounds_in_time` says
  std::uint64_t seed = 42;
};

/// Times of one model. All models took turns, with new buffers and packed weights in each round (`rounds_set_up_anew`). Times are
/// milliseconds per batch; short runs are timed many in a row.
struct ModelRounds {
  std::string model;
  std::string_view arithmetic = kFloat;    ///< as `arithmetic_of` says
  std::optional<std::string> format = {};  ///< of its quantizers
  std::int64_t weight_bytes = 0;           ///< as they are held
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::vector<double> rounds_ms = {};  ///< of each round, in their order
  Speedup speedup = {};                ///< against the first

  std::int64_t timed_runs() const { return std::ssize(rounds_ms); }
};
const Fields& fields_of(const ModelRounds*);

/// The result for programs.
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

/// Times models on random ids without padding, of as many tokens as all of them take, or on random images. Throws `UserError` as
/// `bench`, and for images of different sizes, or texts beside images; `Interrupted`.
ModelsResult bench_models(const ModelsJob& job, Context& context);

}  // namespace hone
