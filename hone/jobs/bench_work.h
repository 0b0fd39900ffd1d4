#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/data/encoded_set.h"
#include "hone/jobs/execution_mode.h"
#include "hone/models/model_source.h"
#include "hone/passes/quantize.h"

/// Prepares a run of a model, or a training step, to be timed.
namespace hone {

struct BenchOptions {
  std::int64_t batch = 0;   ///< 0: `kLatencyBatch` if `bench` times inference, else `kRunBatch`
  std::int64_t tokens = 0;  ///< 0: see `tokens_of_run`
  bool train = false;       ///< a whole training step with dropout and AdamW; otherwise inference
  /// Format of quantizers in front of every linear, in training and inference.
  std::optional<Format> format = {};
  /// Format of packed weights for native products (jobs/native/native_copy.h).
  std::optional<Format> native = {};
  /// Options of low-rank adapters; only these and the head are trained (models/adapter.h).
  std::optional<std::string> lora = {};
  std::int64_t runs = 0;  ///< counted runs; 0: 60, or 12 when one takes over 200 ms
  bool records = false;   ///< records every operation of the counted runs
};
/// Default batch sizes: for inference timed by `bench` (as in reports), and for everything else.
inline constexpr std::int64_t kLatencyBatch = 32, kRunBatch = 8;
/// Returns the requested batch size, or the default of `bench`.
std::int64_t bench_batch(const BenchOptions& options);
/// The options `--batch_size`, `--tokens` and `--train`; the others depend on the command.
Options options_of(const BenchOptions*);

/// Returns random tokens of the model's vocabulary, without padding, or images from N(0, 1), with labels of its task.
EncodedSet random_examples(const Model& model, std::int64_t count, std::int64_t tokens);

/// Returns the model to time, with its weights packed or with adapters if the options ask for them. The options then
/// ask for them no more, and have a batch size and tokens. Fresh weights that are not trained are stored in a file, as
/// a model's are. Throws `UserError` like `native_copy`, for more tokens than the model has positions, for quantizers
/// in a model that has some, and for training packed weights.
Model model_to_time(Model model, const std::string& name, BenchOptions& options, Context& context);

/// A stage of the preparation and how long it took.
struct StageTime {
  std::string name;  ///< "passes"
  double ms = 0;
};
const Fields& fields_of(const StageTime*);

/// A graph with everything that its runs need.
struct BenchWork {
  Graph graph;
  double flops = 0;  ///< by definition, see `product_flops`
  ParameterStore parameters;
  NamedTensors inputs = {};  ///< on the device
  /// The first of `inputs`: one, or two in training, since batch norm needs two values per channel.
  NamedTensors first_examples = {};
  Bindings bindings = {};
  /// The preparation, in order: "passes"; for a training step "gradients" and "optimizer", otherwise "constants"
  /// (values that depend on parameters alone, computed once).
  std::vector<StageTime> stages = {};
  std::int64_t step = 0;  ///< runs so far

  /// Runs once and waits for the device. Every training run draws new dropout masks.
  void run(Executable& executable, Device& device);
  /// Runs `first_examples` until weights are packed.
  void pack_weights(Executable& executable, Device& device);
  /// Makes the executable for this execution mode.
  std::unique_ptr<Executable> executable(const ExecutionMode& mode, const Session& session) const;
};

/// Returns the FLOPs by definition of one training step of a graph with the output `loss`: those of its products and of
/// their gradients, or without trainable parameters those of the loss.
double training_flops(const Graph& graph, const Bindings& bindings);

/// Prepares the work on random texts for an execution mode. `parameters` are the model's; the model need not hold them
/// too. Throws `UserError` if memory is short.
BenchWork bench_work(const Model& model, ParameterStore parameters, const BenchOptions& options,
                     const ExecutionMode& mode, const Session& session);

}  // namespace hone
