#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/paired_times.h"
#include "hone/report/document.h"
#include "hone/runtime/context.h"

/// Latency of a model and its baseline per example at a batch size, as every command measures and prints it.
namespace hone {

/// A model, and examples encoded for it.
struct ModelOnExamples {
  const Model& model;
  const EncodedSet& examples;
};

/// Batch sizes of latencies in reports, largest first. See `LargeBatches`.
inline const std::vector<std::int64_t> kLatencyBatches = {32, 1};

/// Times of both models on the same examples, per example.
struct ModelTimes {
  std::string device = {};      ///< of both models: a `device_text`
  std::int64_t batch_size = 1;  ///< examples in a batch, padded to the longest
  std::int64_t texts = 0;       ///< examples in a round
  std::string_view noun = {};   ///< kind of the examples: `EncodedSet::noun`
  double tokens = 0;            ///< average per example, without padding
  double tokens_after = 0;      ///< the same for the second model
  double padded = 0;            ///< average per example, with padding
  double padded_after = 0;      ///< the same for the second model
  std::int64_t rounds = 0;
  TimesInTurn times = {};
};
const Fields& fields_of(const ModelTimes*);

/// How `time_models` handles batches of more than 350 GFLOP, which take several seconds on two cores. BERT-base needs
/// 330 for 32 texts of 60 tokens.
enum class LargeBatches {
  halved,  ///< until they need less, or hold one example
  kept,
};

/// Measures latencies of both models at each batch size, on the first examples: four batches, or 32 single examples;
/// fewer for large models, but at least one batch. No batch is larger than the number of examples. Both models are set
/// up anew in each of 9 to 13 rounds and take turns (`rounds_with_fresh_setup`, `rounds_in_time`). This takes a second
/// for small models, and half a minute for BERT-base with 32 texts of 30 tokens on two cores with AVX2. The speedup is
/// the median ratio of the rounds, with the interval of a repeat (`compare_set_ups`). Throws `UserError` if memory is
/// short, and `Interrupted`.
std::vector<ModelTimes> time_models(const ModelOnExamples& before, const ModelOnExamples& after,
                                    const std::vector<std::int64_t>& batch_sizes, Context& context,
                                    LargeBatches large = LargeBatches::halved);

/// The size of a batch.
struct BatchSize {
  std::int64_t texts = 1, tokens = 1;
};
/// Returns the largest batch that `time_models` runs at `kLatencyBatches`, with the average tokens per example
/// including padding.
BatchSize timed_batch(const ModelOnExamples& timed);

/// Returns how many examples `time_models` runs through two such models in a round at `kLatencyBatches`, including
/// set-ups.
std::int64_t examples_of_round(const ModelOnExamples& timed, const Device& device);

/// Returns the latency of one model at batch size 1, in milliseconds per example: the median of three set-ups, each as
/// in `time_models`. The FLOPs of `baseline` determine the number of examples, so that models with the same baseline
/// are timed on the same examples. Throws `Interrupted`.
double latency_ms(const ModelOnExamples& timed, const Model& baseline, Context& context);

/// Returns the model as it runs from its smallest file: with packed weights if they have formats.
Model packed_to_run(Model model, Context& context);

/// Returns "batch size 32, 11.4 tokens padded to 19.8"; without padding "batch size 32, 128 tokens"; for images "batch
/// size 32".
std::string batch_text(std::int64_t batch_size, double tokens, double padded = 0);
/// Returns "Latency per example (batch size 32, 11.4 tokens padded to 19.8)".
std::string latency_title(std::int64_t batch_size, double tokens, double padded = 0);
/// Names the device unless it is the CPU: "Latency per example on cuda:0 (batch size 32)".
std::string latency_title(const ModelTimes& one);

/// Returns latencies as key figures: {"Latency per example (batch size 32, 21.3 tokens padded to 30)", "0.75 → 0.41 ms,
/// 1.84× faster in paired rounds (95% CI 1.79 to 1.90)"}.
std::vector<Fact> latency_facts(const std::vector<ModelTimes>& times);

/// Returns "Latency per example at batch size 32: 0.75 → 0.41 ms, 1.84× faster in paired rounds (95% CI 1.79 to 1.90).
/// …".
std::string times_line(const ModelTimes& one, int threads);

/// Returns options of `hone bench` for the same batch size, padded tokens and device: " --batch_size 32 --tokens 20";
/// without tokens for images.
std::string bench_options(const ModelTimes& one);

/// Returns a warning about batch sizes whose rounds varied too much for a reliable speedup, or "". `models`: both as
/// arguments of `hone bench`: "base small/model"; empty: no command is suggested.
std::string noise_warning(const std::vector<ModelTimes>& times, const std::string& models);

}  // namespace hone
