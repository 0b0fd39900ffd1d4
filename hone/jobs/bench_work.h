#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/data/encoded_set.h"
#include "hone/jobs/execution_way.h"
#include "hone/models/model_source.h"
#include "hone/passes/quantize.h"

/// A run of a model, or a step of its training, made ready to be timed.
namespace hone {

struct BenchOptions {
  std::int64_t batch = 0;   ///< 0: `kLatencyBatch` in `bench` of inference, otherwise `kRunBatch`
  std::int64_t tokens = 0;  ///< 0: as `tokens_of_run` says
  bool train = false;       ///< a whole training step with dropout and AdamW; otherwise inference
  /// Quantizers in front of every linear, for the step or the inference.
  std::optional<Format> format = {};
  /// The format of weights, packed, for products of codes (jobs/native/native_copy.h).
  std::optional<Format> native = {};
  /// Of low-rank adapters that alone are trained, with the head (models/adapter.h).
  std::optional<std::string> lora = {};
  std::int64_t runs = 0;  ///< counted runs; 0: 60, or 12 when one takes over 200 ms
  bool records = false;   ///< every operation of the counted runs
};
/// Default batch sizes: for inference that `bench` times (as in reports), and for everything else.
inline constexpr std::int64_t kLatencyBatch = 32, kRunBatch = 8;
/// The batch size that is asked for, or else the default of `bench`.
std::int64_t bench_batch(const BenchOptions& options);
/// `--batch_size`, `--tokens` and `--train`; the others depend on the command.
Options options_of(const BenchOptions*);

/// Texts of random tokens of the model's, without padding, or images of N(0, 1), with labels of its task.
EncodedSet random_examples(const Model& model, std::int64_t count, std::int64_t tokens);

/// The model as it is timed: with its weights packed, or with adapters, where the options ask for that; these ask for it no
/// more then, and have a batch size and tokens. Fresh weights that are not trained lie in a file, as a model's do. Throws `UserError` as `native_copy`, for more tokens than the model has positions, for
/// quantizers in a model that has some, and for training packed weights.
Model bench_subject(Model model, const std::string& name, BenchOptions& options, Context& context);

/// A part of making work ready, and how long it took.
struct StageTime {
  std::string name;  ///< "passes"
  double ms = 0;
};
const Fields& fields_of(const StageTime*);

/// A graph with all that its runs need.
struct BenchWork {
  Graph graph;
  double flops = 0;  ///< by definition, see `product_flops`
  ParameterStore parameters;
  NamedTensors inputs = {};  ///< on the device
  /// The first of `inputs`: one, or two in training, as batch norms need two values in a channel.
  NamedTensors first_examples = {};
  Bindings bindings = {};
  /// What was done, in order: "passes"; of a training step "gradients" and "optimizer", else "constants" (what depends on
  /// parameters alone, computed once).
  std::vector<StageTime> stages = {};
  std::int64_t step = 0;  ///< runs so far

  /// Runs it once, to its end on the device. Every run of a training draws other dropout.
  void run(Executable& executable, Device& device);
  /// Runs `first_examples` until weights are packed.
  void pack_weights(Executable& executable, Device& device);
  /// By the way's executor.
  std::unique_ptr<Executable> executable(const ExecutionWay& way, const Session& session) const;
};

/// The FLOPs by definition of one training step of a graph with the output `loss`: those of its products and of their gradients.
/// Where nothing is trainable, those of the loss.
double training_flops(const Graph& graph, const Bindings& bindings);

/// The work on random texts, as `way` has it. `parameters`: those of the model, not kept twice where it has none itself. Throws
/// `UserError` where memory is short.
BenchWork bench_work(const Model& model, ParameterStore parameters, const BenchOptions& options,
                     const ExecutionWay& way, const Session& session);

}  // namespace hone
