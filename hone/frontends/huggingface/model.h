#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/tensor/parameter_store.h"

/// Models as Hugging Face folders: config.json and weights in, the same layout out.
///
///     Model model = load_model("bert-tiny", ops, formats, /*seed=*/42);
///     Graph graph = forward_graph(model);
namespace hone {

/// How a model is quantized.
struct Quantization {
  QuantizationPlan plan;
  std::string method;  ///< "ptq" or "qat": after or during training
};

/// A model is its graph, and the values of the graph's parameters.
struct Model {
  /// In training mode, with the outputs `logits` and `loss`. What an architecture builds from its config, and whatever was
  /// made of it since.
  Graph graph;
  ParameterStore parameters;  ///< named as in checkpoints of the architecture
  BertConfig config;
  /// Of the quantizers in the graph which plan put them there. See `quantize_model`.
  std::optional<Quantization> quantization = {};
  /// What a user should know: initialised heads, dropped tensors.
  std::vector<std::string> warnings = {};
  bool fresh_head = false;  ///< the head was not in the checkpoint: it is as it was drawn
};

/// What to do where the classes of the data are not those of a trained head.
enum class HeadFit {
  must_fit,  ///< refuse
  may_be_fresh,  ///< leave the head out and begin with one for the data's classes, as transformers does with
                 ///< ignore_mismatched_sizes
};

/// Reads a model folder: config.json, graph.hone where there is one (else the graph is the one that the config builds, with
/// the quantizers that it lists), and what the graph asks for from weights in any of the layouts of checkpoint.h, floating
/// point widened to fp32. Names with and without the architecture's prefix and the old `gamma`/`beta` load. Missing head
/// parameters are initialised from `seed`; tensors that the graph has no place for are dropped; both with a warning. `labels`, when not
/// empty, are the classes of the data: a head that is initialised takes their number, and default names give way to
/// theirs; with a trained head for others `head` says what happens.
/// Throws `UserError` for an unknown model_type, a graph that is none or has other classes than the config, missing or
/// misshapen weights, weights that are NaN or infinite, a trained head with another number of classes that must fit, and a
/// fresh one for a model with a graph of its own.
Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const std::vector<std::string>& labels = {},
                 HeadFit head = HeadFit::must_fit);

/// A model with fresh weights: N(0, initializer_range), zero biases, unit layer norms, a zero padding row.
Model new_model(const BertConfig& config, const OpTable& ops, std::uint64_t seed);

/// Writes config.json and the weights into an existing folder, and graph.hone where the config builds another graph. Unknown
/// keys of the config are kept; a quantized model has a `quantization_config`.
///
/// The weights are model.safetensors, which `transformers` loads, where it can represent the model: where the graph without
/// its quantizers is the one that the config builds. Of any other model they are parameters.safetensors, so that other
/// programs fail instead of filling layers at random, and the config says so.
/// Throws `UserError`, before anything is written, for weights that are NaN or infinite.
void save_model(const Model& model, const fs::path& folder);

inline constexpr const char* kGraphFile = "graph.hone";

/// Throws `UserError` when the model is quantized already.
void check_unquantized(const Model& model);

/// Puts the quantizers of the plan into the graph, and keeps how. Throws `UserError` as `quantize` and
/// `check_unquantized` do. Their states come from calibration.
void quantize_model(Model& model, Quantization quantization);

/// Lets go of what the graph has no parameter for, as after dead code was removed.
void drop_unused_parameters(Model& model);

/// The same model without its quantizers and their states.
Model without_quantizers(const Model& model);

/// The graph for predictions: `logits` alone, in training mode (see `remove_dropout`).
Graph forward_graph(const Model& model);
/// The same without quantizers: what recipes and plans name the operations of.
Graph plain_graph(const Model& model);

}  // namespace hone
