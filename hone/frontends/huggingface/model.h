#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/tensor/parameter_store.h"

/// Models as Hugging Face folders: config.json and weights in, the same layout out.
///
///     Model model = load_model("bert-tiny", formats, /*seed=*/42);
///     Graph graph = build_graph(model, ops, {.labels = true});
namespace hone {

/// How a model is quantized.
struct Quantization {
  QuantizationPlan plan;
  std::string method;  ///< "ptq" or "qat": after or during training
};

struct Model {
  BertConfig config;
  /// Weights, and states of quantizers. fp32, named as in checkpoints of the architecture.
  ParameterStore parameters;
  std::optional<Quantization> quantization;
  /// What a user should know: initialised heads, dropped tensors.
  std::vector<std::string> warnings;
  bool fresh_head = false;  ///< the head was not in the checkpoint: it is as it was drawn
};

/// What to do where the classes of the data are not those of a trained head.
enum class HeadFit {
  must_fit,  ///< refuse
  may_be_fresh,  ///< leave the head out and begin with one for the data's classes, as transformers does with
                 ///< ignore_mismatched_sizes
};

/// Reads a model folder: config.json, and the weights in any of the layouts of checkpoint.h, widened to fp32. Names
/// with and without the architecture's prefix and the old `gamma`/`beta` load. Missing head parameters are initialised
/// from `seed`; tensors that the architecture has no place for are dropped; both with a warning. `labels`, when not
/// empty, are the classes of the data: a head that is initialised takes their number, and default names give way to
/// theirs; with a trained head for others `head` says what happens.
/// Throws `UserError` for an unknown model_type, missing or misshapen weights, weights that are NaN or infinite, a
/// trained head with another number of classes that must fit, and a fresh one for a quantized model.
Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const std::vector<std::string>& labels = {},
                 HeadFit head = HeadFit::must_fit);

/// A model with fresh weights: N(0, initializer_range), zero biases, unit layer norms, a zero padding row.
Model new_model(const BertConfig& config, const OpTable& ops, std::uint64_t seed);

/// Writes config.json and model.safetensors into an existing folder: what `transformers` loads. Unknown keys of the
/// config are kept; a quantized model has a `quantization_config`. Throws `UserError`, before anything is written, for
/// weights that are NaN or infinite.
void save_model(const Model& model, const fs::path& folder);

/// The graph of the model, in training mode, unquantized (see build_bert).
Graph build_graph(const Model& model, const OpTable& ops, const GraphInputs& inputs);

}  // namespace hone
