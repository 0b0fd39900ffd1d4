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

/// A model is its graph, the values of the graph's parameters, and what neither can say.
struct Model {
  /// In training mode, with the outputs `logits` and `loss`. What an architecture builds from its config, and whatever was
  /// made of it since.
  Graph graph;
  ParameterStore parameters;  ///< named as in checkpoints of the architecture
  ModelFacts facts;
  /// Of the quantizers in the graph; see `follow_graph`.
  std::optional<Quantization> quantization = {};
  /// What a user should know: initialised heads, dropped tensors.
  std::vector<std::string> warnings = {};
  /// Parameters of the head that were not in the checkpoint: they are as they were drawn.
  std::vector<std::string> drawn = {};

  bool fresh_head() const { return !drawn.empty(); }
};

/// What to do where the classes of the data are not those of a trained head.
enum class HeadFit {
  must_fit,  ///< refuse
  may_be_fresh,  ///< leave the head out and begin with one for the data's classes, as transformers does with
                 ///< ignore_mismatched_sizes
  replaced,  ///< make room without a word for one that comes from elsewhere
  unused  ///< what is missing of it, or of another size, begins at random without a warning, for nothing reads it
};

/// Reads a model folder: config.json, graph.hone where there is one (else the graph is the one that the config builds, with
/// the quantizers that it lists), and what the graph asks for from weights in any of the layouts of checkpoint.h, floating
/// point widened to fp32. Names load as checkpoint_names.h says, with and without the architecture's prefix. Missing head
/// parameters are initialised from `seed`; tensors that the graph has no place for are dropped; both with a warning. `labels`, when it has
/// names, are task and labels of the data: a head that is initialised takes them, and default names give way to
/// theirs; with a trained head for others, and where there is none, `head` says what happens.
/// Throws `UserError` for an unknown model_type, a graph that is none or has other classes than the config, missing or
/// misshapen weights, weights that are NaN or infinite, a trained head with another number of classes that must fit, and a
/// fresh one for a model with a graph of its own.
Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const LabelScheme& labels = {},
                 HeadFit head = HeadFit::must_fit);

/// Whether the checkpoint of a model folder has weights that tell the classes apart. Throws `UserError` as `load_model` for a
/// checkpoint that cannot be read.
bool has_trained_head(const fs::path& folder);

/// What a config.json says of its model. `where` (a path, usually) opens the messages of the `UserError`s.
ModelFacts model_facts(const Json& config, std::string_view where);

/// A model with fresh weights: N(0, initializer_range), zero biases, unit layer norms, a zero padding row. They are the same
/// whatever threads draw them; null: the calling one.
Model new_model(const ModelFacts& facts, const OpTable& ops, std::uint64_t seed,
                ThreadPool* pool = nullptr);

/// The graph that the config of these facts builds, in training mode, with all inputs.
Graph config_graph(const ModelFacts& facts, const OpTable& ops);

/// Writes config.json and the weights into an existing folder, and graph.hone where the config builds another graph. Unknown
/// keys of the config are kept; a quantized model has a `quantization_config`, one that passes were run on a `hone_history`.
///
/// The weights are model.safetensors where `transformers` loads the model (`transformers_loading`, other_programs.h). Of any other model they are
/// parameters.safetensors, so that other programs fail instead of filling layers at random, and the config says why; packed ones
/// leave out words that repeat (hone/tensor/bitmaps.h).
/// Throws `UserError`, before anything is written, for weights that are NaN or infinite.
void save_model(const Model& model, const fs::path& folder);

/// The config.json of the model for programs that find its graph and its weights in other files.
Json config_beside(const Model& model);

/// Throws `UserError` when the model, called `name`, is quantized already.
void check_unquantized(const Model& model, const std::string& name);

/// Whether weights are stored in codes, or without zeros (`ModelFacts::stored_without_zeros`).
bool is_packed(const Model& model);
/// Bytes of the weights of a model that are saved, and how many of them a packed file leaves out (hone/tensor/bitmaps.h).
struct SavedBytes {
  std::int64_t all = 0, left_out = 0;
  std::int64_t stored() const { return all - left_out; }
};
SavedBytes saved_bytes(const Model& model);
/// Whether a file of fp32 weights gets notably smaller without them, so that it is worth that hone alone reads it.
bool has_many_zeros(const SavedBytes& bytes);
/// Bytes of the tensors in the file that `save_model` writes, by name: packed ones without the zeros that it leaves out.
std::map<std::string, std::int64_t> stored_tensor_bytes(const Model& model);
/// Their sum: the file without its header.
std::int64_t stored_bytes(const Model& model);

/// Throws `UserError` when the weights of the model, called `name`, are packed, which neither trains nor is quantized further.
void check_not_packed(const Model& model, const std::string& name);

/// Brings what stands beside the graph in line with it after a change: parameters that it has no place for go, the config has
/// the rows of embeddings of tokens, the layers and (where all have as many) the neurons that the graph has, and
/// `quantization` has the plan of the quantizers that stand in it. Those that are new count as put there after training
/// ("ptq"), where none was before. See models/transform.h.
void follow_graph(Model& model);

/// The graph for predictions: `logits` alone, in training mode (see `remove_dropout`).
Graph forward_graph(const Model& model);
/// The same without quantizers: what recipes and plans name the operations of.
Graph plain_graph(const Model& model);

}  // namespace hone
