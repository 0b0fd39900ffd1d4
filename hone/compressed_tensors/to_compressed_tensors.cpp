#include "hone/compressed_tensors/to_compressed_tensors.h"

#include <algorithm>

#include "hone/base/interrupt.h"
#include "hone/compressed_tensors/coded_layer.h"
#include "hone/passes/pack.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr std::string_view kWeight = ".weight";

// The module that AutoModel adds to encoders whose checkpoint has none.
constexpr std::string_view kPooler = "pooler";

std::string quoted_regex(std::string_view name) {
  std::string text;
  for (const char letter : name) text += letter == '.' ? "\\." : std::string(1, letter);
  return text;
}

class Converter {
 public:
  Converter(const Graph& graph, const ParameterStore& parameters, const ModuleNames& modules,
            ThreadPool& pool)
      : graph_(graph), parameters_(parameters), modules_(modules), pool_(pool) {}

  CompressedTensorsModel run() {
    for (Node* node : graph_.of_kind(NodeKind::operation))
      if (is_unpacked(*node)) convert_weight(*node);
    for (Node* node : graph_.of_kind(NodeKind::operation))
      if (is_quantizer(*node)) look_at(*node);
    for (Node* node : graph_.of_kind(NodeKind::parameter))
      if (!replaced_.contains(node->name()) && info(node->role()).saved)
        model_.tensors.emplace(node->name(), parameters_.at(node->name()).on(cpu()));
    if (!model_.groups.empty()) model_.quantization_config = config();
    return std::move(model_);
  }

 private:
  // Returns the linear layer that is the only user of the weight, or null.
  Node* layer_of(Node& unpack) const {
    if (unpack.users().size() != 1) return nullptr;
    Node* const user = unpack.users()[0];
    const bool fits = user->is("linear") && user->input(1) == unpack.result() &&
                      packed_parameter(unpack) == user->name() + std::string(kWeight);
    return fits ? user : nullptr;
  }

  bool is_in_head(std::string_view module) const {
    return std::ranges::any_of(modules_.head, [&](std::string_view prefix) {
      return (std::string(module) + ".").starts_with(prefix);
    });
  }

  // Returns the quantization of a layer's inputs, or nothing if there is none or the package cannot express it.
  std::optional<CodedInputs> inputs_of(Node& layer) const {
    Node& quantizer = *layer.input(0).node;
    if (!is_quantizer(quantizer)) return std::nullopt;
    std::vector<Tensor> state;
    for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
      state.push_back(parameters_.at(quantizer.input(i).node->name()).on(cpu()));
    return coded_inputs(quantizer.attributes().get<Format>("format"), state,
                        layer.input(0).type().shape.back().size);
  }

  void convert_weight(Node& unpack) {
    stop_if_interrupted();
    for (const Value& input : unpack.inputs()) replaced_.insert(input.node->name());
    const PackedTensor tensor = packed_tensor(unpack, parameters_);
    Node* const layer = layer_of(unpack);
    std::string objection = "compressed-tensors stores codes only for linear layers";
    if (layer != nullptr && is_in_head(layer->name())) {
      objection = "vLLM loads heads only in floating point";
    } else if (layer != nullptr) {
      const std::optional<CodedInputs> inputs = inputs_of(*layer);
      WeightCoding coding = coded_weight(tensor, inputs, pool_);
      if (coding.weight) return add(*layer, std::move(*coding.weight), inputs);
      objection = std::move(coding.objection);
    }
    model_.tensors.emplace(packed_parameter(unpack), tensor.values(pool_));
    const std::string_view where = layer == nullptr            ? " outside of linear layers"
                                   : is_in_head(layer->name()) ? " of the head"
                                                               : "";
    model_.notes.insert(fmt::format("weights in {}{} are stored as fp32 values, because {}",
                                    to_string(tensor.format), where, objection));
  }

  void add(const Node& layer, CodedWeight weight, const std::optional<CodedInputs>& inputs) {
    const std::string& name = layer.name();
    for (auto& [part, tensor] : weight.tensors)
      model_.tensors.emplace(fmt::format("{}.{}", name, part), std::move(tensor));
    if (weight.of_float8) model_.float8.insert(name + std::string(kWeight));
    if (weight.in_bfloat16) {
      model_.in_bfloat16 = true;
      model_.notes.insert(
          "compressed-tensors unpacks mxfp4 and mxfp8 to bfloat16, so transformers computes in it; "
          "dtype=torch.float32, quantization_config=CompressedTensorsConfig(dequantize=True) "
          "computes in fp32");
    }
    Json rounding;
    if (weight.rounds_inputs) {
      rounding = inputs->scheme;
      for (const auto& [part, tensor] : inputs->tensors)
        model_.tensors.emplace(fmt::format("{}.{}", name, part), tensor);
      if (!inputs->note.empty()) model_.notes.insert(inputs->note);
      rounded_.insert(&layer);
    }
    const auto same = [&](const CodedLayers& group) {
      return group.format == weight.format && group.weights == weight.scheme &&
             group.inputs == rounding;
    };
    auto group = std::ranges::find_if(model_.groups, same);
    if (group == model_.groups.end())
      group = model_.groups.insert(group, {weight.format, weight.scheme, rounding});
    group->names.push_back(name);
  }

  // Notes values that a quantizer rounds but the package does not.
  void look_at(Node& quantizer) {
    for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
      replaced_.insert(quantizer.input(i).node->name());
    const bool known = quantizer.input(0).node->kind() == NodeKind::parameter ||
                       std::ranges::all_of(quantizer.users(), [&](const Node* user) {
                         return rounded_.contains(user);
                       });
    if (!known)
      model_.notes.insert(fmt::format(
          "inputs and outputs in {} are not rounded, because compressed-tensors has no such "
          "quantization of them",
          to_string(quantizer.attributes().get<Format>("format"))));
  }

  // Returns a regular expression for a module path, with or without the encoder's name in front.
  std::string pattern(std::string_view module, std::string_view below = "") const {
    const std::string encoder = std::string(modules_.encoder) + ".";
    if (module.starts_with(encoder)) module.remove_prefix(encoder.size());
    return fmt::format("re:(.*\\.)?{}{}$", quoted_regex(module), below);
  }

  std::vector<std::string> ignored() const {
    std::set<std::string> patterns = {pattern(kPooler, "(\\..*)?")};
    for (const std::string_view prefix : modules_.head)
      patterns.insert(pattern(prefix.substr(0, prefix.find_last_not_of('.') + 1), "(\\..*)?"));
    for (const Node* node : graph_.of_kind(NodeKind::operation)) {
      const bool coded = std::ranges::any_of(model_.groups, [&](const CodedLayers& group) {
        return std::ranges::find(group.names, node->name()) != group.names.end();
      });
      if (node->is("linear") && !coded && !is_in_head(node->name()))
        patterns.insert(pattern(node->name()));
    }
    return {patterns.begin(), patterns.end()};
  }

  Json config() const {
    const std::vector<CodedLayers>& groups = model_.groups;
    const bool same = std::ranges::all_of(
        groups, [&](const CodedLayers& group) { return group.format == groups[0].format; });
    Json config = {{"quant_method", "compressed-tensors"},
                   {"format", same ? groups[0].format : "mixed-precision"},
                   {"quantization_status", "compressed"},
                   {"config_groups", Json::object()},
                   {"ignore", ignored()}};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Json targets = Json::array();
      if (groups.size() == 1)
        targets.push_back("Linear");
      else
        for (const std::string& name : groups[i].names) targets.push_back(pattern(name));
      config["config_groups"][fmt::format("group_{}", i)] = {
          {"targets", targets},
          {"format", groups[i].format},
          {"weights", groups[i].weights},
          {"input_activations", groups[i].inputs},
          {"output_activations", nullptr}};
    }
    return config;
  }

  const Graph& graph_;
  const ParameterStore& parameters_;
  const ModuleNames& modules_;
  ThreadPool& pool_;
  CompressedTensorsModel model_;
  std::set<std::string> replaced_;  // parameters that are not stored unchanged
  std::set<const Node*> rounded_;   // layers whose inputs the package rounds
};

}  // namespace

CompressedTensorsModel to_compressed_tensors(const Graph& graph, const ParameterStore& parameters,
                                             const ModuleNames& modules, ThreadPool& pool) {
  return Converter(graph, parameters, modules, pool).run();
}

}  // namespace hone
