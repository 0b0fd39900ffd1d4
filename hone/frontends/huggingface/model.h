#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Models as Hugging Face folders: reads and writes config.json and weights.
///
///     Model model = load_model("bert-tiny", ops, formats, /*seed=*/42);
///     Graph graph = forward_graph(model);
namespace hone {

struct Quantization {
  QuantizationPlan plan;
  std::string method;  ///< "ptq" or "qat": after or during training
};

/// A model: its graph, the values of the graph's parameters, and additional facts.
struct Model {
  /// The graph that the architecture builds from its config, plus later changes. In training mode, with the outputs
  /// `logits` and `loss`.
  Graph graph;
  ParameterStore parameters;  ///< named as in checkpoints of the architecture
  ModelFacts facts;
  /// Describes the quantizers in the graph; see `follow_graph`.
  std::optional<Quantization> quantization = {};
  /// Messages for the user: initialized heads, dropped tensors.
  std::vector<std::string> warnings = {};
  /// Head parameters that were not in the checkpoint and still have their random initial values.
  std::vector<std::string> untrained_head_parameters = {};

  bool has_untrained_head() const { return !untrained_head_parameters.empty(); }
};

/// What to do if the data's classes are not those of a trained head.
enum class HeadFit {
  must_fit,    ///< refuse
  may_be_new,  ///< replace the head by a new one for the data's classes, as transformers does with
               ///< ignore_mismatched_sizes
  replaced,    ///< remove it without a warning, because another one replaces it
  unused  ///< initialize missing or mismatched parameters without a warning, because they are unused
};

/// Reads a model folder: config.json, graph.hone if it exists (else the config builds the graph, with the quantizers
/// that it lists), and the weights that the graph needs, in any of the layouts of checkpoint.h, with floating point
/// widened to fp32. Tensor names are resolved as in checkpoint_names.h, with or without the architecture's prefix.
/// Missing head parameters are initialized from `seed`, and tensors that the graph does not need are dropped; both with
/// a warning. `labels`, if it has names, is the task and labels of the data. They apply to an initialized head and
/// replace default names. If a trained head has other labels, `head` decides what happens, also for a missing head.
/// Throws `UserError` for an unknown model_type, an invalid graph or one with other classes than the config, missing or
/// misshapen weights, weights that are NaN or infinite, a trained head with another number of classes under `must_fit`,
/// and a new head for a model with its own graph.
Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const LabelScheme& labels = {},
                 HeadFit head = HeadFit::must_fit);

/// Returns whether the checkpoint of a model folder has the weights of a classification head. Throws `UserError` like
/// `load_model` for a checkpoint that cannot be read.
bool has_trained_head(const fs::path& folder);

/// Returns the facts in a config.json. `where` (usually a path) starts the messages of `UserError`s.
ModelFacts model_facts(const Json& config, std::string_view where);

/// Returns a model with new weights: N(0, initializer_range), zero biases, unit layer norms, a zero padding row. They
/// do not depend on the number of threads; without `pool` the calling thread computes them.
Model new_model(const ModelFacts& facts, const OpTable& ops, std::uint64_t seed,
                ThreadPool* pool = nullptr);

/// Returns the graph that the config of these facts builds, in training mode, with all inputs.
Graph config_graph(const ModelFacts& facts, const OpTable& ops);

/// Writes config.json and the weights into an existing folder, and graph.hone if the config builds another graph.
/// Unknown keys of the config are kept. A quantized model gets a `quantization_config`, one changed by passes a
/// `hone_history`.
///
/// If `transformers` loads the model (`transformers_loading`, other_programs.h), the weights file is model.safetensors.
/// Otherwise it is parameters.safetensors, so that other programs fail instead of initializing layers at random, and
/// the config contains the reason. Packed weights omit repeated words (hone/tensor/bitmaps.h). Throws `UserError`,
/// before anything is written, for weights that are NaN or infinite.
void save_model(const Model& model, const fs::path& folder);

/// Returns the model's config.json for programs that read its graph and weights from other files.
Json external_config(const Model& model);

/// Throws `UserError` if the model, called `name`, is already quantized.
void check_unquantized(const Model& model, const std::string& name);

/// Returns whether weights are stored as codes, or without zeros (`ModelFacts::stored_without_zeros`).
bool is_packed(const Model& model);
/// The size in bytes of the saved weights, and how many of these bytes a packed file omits (hone/tensor/bitmaps.h).
struct SavedBytes {
  std::int64_t all = 0, left_out = 0;
  std::int64_t stored() const { return all - left_out; }
};
SavedBytes saved_bytes(const Model& model);
/// Returns whether omitting zeros makes an fp32 file so much smaller that it is worth being readable by hone only.
bool has_many_zeros(const SavedBytes& bytes);
/// Returns the bytes of each tensor in the file that `save_model` writes; packed ones without omitted zeros.
std::map<std::string, std::int64_t> stored_tensor_bytes(const Model& model);
/// Returns their sum: the size of the file without its header.
std::int64_t stored_bytes(const Model& model);

/// Throws `UserError` if the weights of the model, called `name`, are packed: these can be neither trained nor
/// quantized again.
void check_not_packed(const Model& model, const std::string& name);

/// Updates the model after a change of its graph. Removes unused parameters, sets the config's vocabulary size, number
/// of layers and (if all layers agree) number of neurons, and sets `quantization` to the plan of the quantizers in the
/// graph, with method "ptq" if there was none before. See models/transform.h.
void follow_graph(Model& model);

/// Returns the graph for predictions: only the output `logits`, in training mode (see `remove_dropout`).
Graph forward_graph(const Model& model);
/// Returns the same without quantizers: its operations are those that recipes and plans name.
Graph unquantized_graph(const Model& model);

}  // namespace hone
