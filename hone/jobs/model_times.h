#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/report/document.h"
#include "hone/runtime/context.h"

/// The latency of a model beside its baseline, as every command measures and prints it: per example, at a batch size.
namespace hone {

/// A model, and examples as it reads them.
struct ModelOnExamples {
  const Model& model;
  const EncodedSet& examples;
};

/// Batch sizes of latencies in reports, the largest first. See `LargeBatches`.
inline const std::vector<std::int64_t> kLatencyBatches = {32, 1};

/// Both models on the same examples; times are per example.
struct ModelTimes {
  std::string device = {};     ///< that ran both: a `device_text`
  std::int64_t at_a_time = 1;  ///< examples in a batch, padded to the longest of them
  std::int64_t texts = 0;      ///< examples of a round
  std::string_view noun = {};  ///< what they are: `EncodedSet::noun`
  double tokens = 0;           ///< of an example, on average, without padding
  double tokens_after = 0;     ///< the same as the second model reads them
  double padded = 0;           ///< tokens of an example with its padding, on average
  double padded_after = 0;     ///< the same as the second model reads them
  std::int64_t rounds = 0;
  TimesInTurn times = {};
};
const Fields& fields_of(const ModelTimes*);

/// What `time_models` does with batches that need more than 350 GFLOP, which take several seconds on two cores: BERT-base needs 330 for 32
/// texts of 60 tokens.
enum class LargeBatches {
  halved,  ///< until they need less, or hold one example
  kept,
};

/// Latencies of both models at each batch size, on the first examples: four batches, or 32 single examples, and fewer of large models, but
/// one batch at least. A batch has no more examples than there are. Both models are set up anew in each of 9 to 13 rounds, and take turns
/// (`rounds_set_up_anew`, `rounds_in_time`): a second for small models, half a minute for BERT-base at 32 texts of 30 tokens on two cores
/// with AVX2. The speedup is the median ratio of the rounds, with the interval of a repeat (`compare_set_ups`). Throws `UserError` where
/// memory is short; `Interrupted`.
std::vector<ModelTimes> time_models(const ModelOnExamples& before, const ModelOnExamples& after,
                                    const std::vector<std::int64_t>& batch_sizes, Context& context,
                                    LargeBatches large = LargeBatches::halved);

/// How much a batch holds.
struct BatchSize {
  std::int64_t texts = 1, tokens = 1;
};
/// Returns the largest batch that `time_models` runs at `kLatencyBatches`, with the tokens of an example with its padding on average.
BatchSize timed_batch(const ModelOnExamples& timed);

/// Returns how many examples `time_models` runs through two such models in a round, set-ups included, at `kLatencyBatches`.
std::int64_t examples_of_round(const ModelOnExamples& timed, const Device& device);

/// Returns the latency of one model at batch size 1, in milliseconds per example: the median of three set-ups, each as in `time_models`.
/// `baseline` decides on the number of examples, by its FLOPs, so that the latencies of models that have one baseline are of the same
/// examples. Throws `Interrupted`.
double latency_ms(const ModelOnExamples& timed, const Model& baseline, Context& context);

/// A model as it runs from its smallest file: its weights packed, where any have formats.
Model packed_to_run(Model model, Context& context);

/// "batch size 32, 11.4 tokens padded to 19.8"; where nothing is padded, "batch size 32, 128 tokens"; without tokens, as of images, "batch
/// size 32".
std::string batch_text(std::int64_t batch_size, double tokens, double padded = 0);
/// "Latency per example (batch size 32, 11.4 tokens padded to 19.8)": the same, with what is measured.
std::string latency_title(std::int64_t batch_size, double tokens, double padded = 0);
/// Names the device unless it is the CPU: "Latency per example on cuda:0 (batch size 32)".
std::string latency_title(const ModelTimes& one);

/// Latencies as key figures: {"Latency per example (batch size 32, 21.3 tokens padded to 30)", "0.75 → 0.41 ms, 1.84×
/// faster in paired rounds (95% CI 1.79 to 1.90)"}.
std::vector<Fact> latency_figures(const std::vector<ModelTimes>& times);

/// "Latency per example at batch size 32: 0.75 → 0.41 ms, 1.84× faster in paired rounds (95% CI 1.79 to 1.90). …"
std::string times_line(const ModelTimes& one, int threads);

/// Options of `hone bench` for the same batch size, padded tokens and device: " --batch_size 32 --tokens 20"; without tokens of images.
std::string bench_options(const ModelTimes& one);

/// Says at which batch sizes rounds varied so much that a speedup says little; "": at none. `models`: both, as `hone bench` takes them: "base
/// small/model"; empty: no command times both.
std::string noise_warning(const std::vector<ModelTimes>& times, const std::string& models);

}  // namespace hone
