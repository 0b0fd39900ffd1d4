#include "hone/frontends/huggingface/model.h"

#include <algorithm>
#include <bit>

#include "hone/base/printable.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/other_programs.h"

namespace hone {
namespace {

/// What the frontend knows of an architecture; a new one is a row.
struct Architecture {
  std::string_view model_type;
  std::string_view prefix;  ///< of the encoder's parameters; headless checkpoints leave it out
  std::vector<std::string_view> heads;  ///< parameters that may be missing begin like this
  std::vector<std::string_view>
      buffers;  ///< tensors of checkpoints that say nothing a graph needs to know
  BertConfig (*config)(const Json&, std::string_view where);
  Graph (*build)(const OpTable&, const BertConfig&, const GraphInputs&);
};

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> rows = {
      {"bert",
       "bert.",
       {"classifier.", "bert.pooler."},
       {"bert.embeddings.position_ids"},
       bert_config,
       build_bert},
  };
  return rows;
}

const Architecture& architecture(std::string_view model_type, std::string_view where) {
  std::vector<std::string> known;
  for (const Architecture& row : architectures()) {
    if (row.model_type == model_type) return row;
    known.emplace_back(row.model_type);
  }
  fail("{}: model_type '{}' is not supported; supported are {}{}", where, model_type,
       fmt::join(known, ", "), did_you_mean(model_type, known));
}

// "LayerNorm.gamma" of old checkpoints is "LayerNorm.weight" today.
std::string modern_name(std::string name) {
  const auto replace_suffix = [&](std::string_view old_suffix, std::string_view new_suffix) {
    if (name.ends_with(old_suffix))
      name.replace(name.size() - old_suffix.size(), old_suffix.size(), new_suffix);
  };
  replace_suffix(".gamma", ".weight");
  replace_suffix(".beta", ".bias");
  return name;
}

Tensor initial_value(const Node& parameter, const BertConfig& config, std::uint64_t seed) {
  const std::string& name = parameter.name();
  const Sizes sizes = resolve(parameter.types()[0].shape, {});
  Tensor tensor = Tensor::zeros(DType::f32, sizes);
  if (name.ends_with(".bias")) return tensor;
  if (name.find("LayerNorm") != std::string::npos) {
    std::ranges::fill(tensor.values<float>(), 1.0f);
    return tensor;
  }
  RandomSequence random(seed, stream_of(name));
  for (float& value : tensor.values<float>())
    value = static_cast<float>(random.normal() * config.initializer_range);
  const bool padded = name.ends_with("word_embeddings.weight") && config.pad_token_id.has_value();
  if (padded && *config.pad_token_id < sizes[0]) {
    std::ranges::fill(
        tensor.slice(0, *config.pad_token_id, *config.pad_token_id + 1).values<float>(), 0.0f);
  }
  return tensor;
}

// NaN and infinities, which spread over everything that is computed.
void check_finite(const Tensor& tensor, std::string_view source, std::string_view name) {
  const std::span<const float> values = tensor.values<float>();
  const auto odd = [](float value) {
    constexpr std::uint32_t kExponent = 0x7f800000;
    return (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent;
  };
  std::int64_t count = 0;
  for (const float value : values) count += odd(value) ? 1 : 0;
  if (count == 0) return;
  const auto first = std::find_if(values.begin(), values.end(), odd);
  fail(
      "{}: tensor {} has {}, the first at index {}: {}; training went "
      "wrong or the file is damaged, take another checkpoint",
      source, name,
      count == 1 ? "1 value that is no number"
                 : fmt::format("{} values that are no numbers", count),
      first - values.begin(), *first);
}

/// Finds the weights of a graph's parameters among the tensors of a checkpoint.
class WeightMatcher {
 public:
  WeightMatcher(const Architecture& arch, Checkpoint checkpoint)
      : arch_(arch), source_(checkpoint.source) {
    for (auto& [name, tensor] : checkpoint.tensors)
      tensors_.emplace(modern_name(name), std::move(tensor));
    for (const std::string_view buffer : arch.buffers) {
      tensors_.erase(std::string(buffer));
      tensors_.erase(std::string(buffer.substr(arch.prefix.size())));
    }
  }

  // The tensor of a parameter, or an undefined one when the checkpoint has none.
  Tensor take(const Node& parameter) {
    auto found = tensors_.find(parameter.name());
    if (found == tensors_.end() && parameter.name().starts_with(arch_.prefix)) {
      found = tensors_.find(parameter.name().substr(arch_.prefix.size()));
    }
    if (found == tensors_.end()) return {};
    const Sizes expected = resolve(parameter.types()[0].shape, {});
    user_check(found->second.sizes() == expected,
               "{}: tensor {} has the shape {}, config.json asks for {}", source_, found->first,
               to_string(found->second.sizes()), to_string(expected));
    user_check(info(found->second.dtype()).floating,
               "{}: tensor {} has elements of type {}, expected floating point", source_,
               found->first, info(found->second.dtype()).name);
    const Tensor widened = found->second.cast(DType::f32);
    Tensor weights = widened.contiguous() ? widened : widened.contiguous_copy();
    check_finite(weights, source_, found->first);
    tensors_.erase(found);
    return weights;
  }
  bool has_head() const { return tensors_.contains("classifier.weight"); }
  // Takes the classifier out; returns the names of its tensors.
  std::vector<std::string> drop_head() {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_)
      if (name.starts_with("classifier.")) names.push_back(name);
    for (const std::string& name : names) tensors_.erase(name);
    return names;
  }
  void take_quantizer_states(ParameterStore& parameters) {
    for (auto at = tensors_.begin(); at != tensors_.end();) {
      const bool state = is_quantizer_state(at->first);
      if (state) {
        const Tensor values = at->second.contiguous_copy();
        if (values.dtype() == DType::f32) check_finite(values, source_, at->first);
        parameters.set(at->first, values);
      }
      at = state ? tensors_.erase(at) : std::next(at);
    }
  }
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
  }

 private:
  const Architecture& arch_;
  std::string source_;
  TensorMap tensors_;
};

bool is_head(const Architecture& arch, const std::string& name) {
  return std::ranges::any_of(arch.heads,
                             [&](std::string_view head) { return name.starts_with(head); });
}

std::string list_some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
    shown.push_back(shown_name(names[i]));
  const std::string more =
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

// Whether the head was trained for other classes than the data's.
bool is_of_other_labels(const BertConfig& config, const std::vector<std::string>& labels) {
  if (labels.size() != config.labels.size()) return true;
  return labels != config.labels && config.labels != default_labels(config.num_labels());
}

// Gives the config the labels of the data. A trained head for others goes, with a warning, or is an error. Returns the
// names of the parameters that went.
std::vector<std::string> adopt_labels(Model& model, const std::vector<std::string>& labels,
                                      HeadFit head, WeightMatcher& weights,
                                      const fs::path& folder) {
  BertConfig& config = model.config;
  std::vector<std::string> dropped;
  if (labels.empty()) return dropped;
  const bool same_count = labels.size() == config.labels.size();
  if (weights.has_head() && head == HeadFit::may_be_fresh && is_of_other_labels(config, labels)) {
    user_check(!model.quantization,
               "{}: a quantized model cannot have a fresh head; start from the model it was made "
               "from",
               folder.string());
    dropped = weights.drop_head();
    model.warnings.push_back(fmt::format(
        "the model's labels are {}, the data's are {}: {} begin at random; train before "
        "use",
        list_some(config.labels), list_some(labels), list_some(dropped)));
    config.labels = labels;
  }
  user_check(labels.size() == config.labels.size() || !weights.has_head(),
             "{}: the model tells {} classes apart, the data has {}: {}; give data with the "
             "model's labels, or --ignore_mismatched_sizes to begin with a fresh head",
             folder.string(), config.labels.size(), labels.size(), list_some(labels));
  if (!same_count || config.labels == default_labels(config.num_labels())) config.labels = labels;
  return dropped;
}

constexpr std::string_view kQuantizationKey = "quantization_config";

Json to_json(const QuantizationPlan& plan) {
  Json layers = Json::object();
  for (const auto& [name, formats] : plan) {
    Json& layer = layers[name] = Json::object();
    for (const Operand operand : kOperands)
      if (formats[operand]) layer[std::string(to_string(operand))] = to_string(*formats[operand]);
  }
  return layers;
}

QuantizationPlan plan_from_json(const Json& layers, const FormatTable& formats) {
  QuantizationPlan plan;
  for (const auto& [name, layer] : layers.items()) {
    LayerFormats chosen;
    for (const Operand operand : kOperands) {
      const auto found = layer.find(std::string(to_string(operand)));
      if (found != layer.end()) chosen[operand] = parse_format(found->get<std::string>(), formats);
    }
    plan.emplace_back(name, chosen);
  }
  return plan;
}

std::optional<Quantization> read_quantization(const Json& config, const FormatTable& formats,
                                              std::string_view where) {
  if (!config.contains(kQuantizationKey)) return std::nullopt;
  const Json& block = config[kQuantizationKey];
  user_check(block.is_object() && block.value("quant_method", Json()) == Json("hone"),
             "{}: quantization_config: only models quantized by this program (quant_method "
             "\"hone\") can be read",
             where);
  return with_context(
      fmt::format("{}: quantization_config", where), [&]() -> std::optional<Quantization> {
        try {
          return Quantization{plan_from_json(block.at("layers"), formats),
                              block.at("training").get<std::string>()};
        } catch (const Json::exception& error) {
          fail("expected \"layers\" and \"training\" as this program writes them: {}",
               error.what());
        }
      });
}

}  // namespace

Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const std::vector<std::string>& labels, HeadFit head) {
  user_check(is_folder(folder),
             "{}: no such model folder; give a folder with config.json and weights",
             folder.string());
  const std::string where = (folder / "config.json").string();
  const Json config = read_json(folder / "config.json");
  const Architecture& arch = architecture(model_type(config, where), where);
  Model model{arch.config(config, where), {}, read_quantization(config, formats, where), {}};
  Checkpoint checkpoint = load_checkpoint(folder);
  checkpoint.source = (folder / checkpoint.source).string();  // for messages
  WeightMatcher weights(arch, std::move(checkpoint));
  const std::vector<std::string> dropped_head = adopt_labels(model, labels, head, weights, folder);
  std::vector<std::string> initialised, missing;
  const Graph graph = arch.build(ops, model.config, {});
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    Tensor tensor = weights.take(*parameter);
    if (tensor.defined()) {
      model.parameters.set(parameter->name(), std::move(tensor));
    } else {
      (is_head(arch, parameter->name()) ? initialised : missing).push_back(parameter->name());
    }
  }
  user_check(missing.empty(), "{}: {} weights that config.json asks for are not there: {}",
             folder.string(), missing.size(), list_some(missing));
  // Only now: without the weights, config.json alone vouches for sizes that may be beyond all memory.
  for (const std::string& name : initialised)
    model.parameters.set(name, initial_value(*graph.find(name), model.config, seed));
  if (model.quantization) weights.take_quantizer_states(model.parameters);
  model.fresh_head = !initialised.empty();
  const std::vector<std::string> dropped = weights.unused();
  std::erase_if(initialised, [&](const std::string& name) {
    return std::ranges::find(dropped_head, name) != dropped_head.end();  // has its own warning
  });
  if (!initialised.empty())
    model.warnings.push_back(
        fmt::format("not in the checkpoint, initialised at random: {}; train before use",
                    list_some(initialised)));
  if (!dropped.empty())
    model.warnings.push_back(
        fmt::format("in the checkpoint but not in the model, dropped: {}", list_some(dropped)));
  return model;
}

Model new_model(const BertConfig& config, const OpTable& ops, std::uint64_t seed) {
  Model model{config, {}, {}, {}};
  const Graph graph = build_bert(ops, config, {});
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    model.parameters.set(parameter->name(), initial_value(*parameter, config, seed));
  }
  return model;
}

void save_model(const Model& model, const fs::path& folder) {
  const std::string broken = model.parameters.first_not_finite();
  user_check(broken.empty(),
             "{}: '{}' has values that are NaN or infinite, so the model is of no use and is not "
             "saved",
             folder.string(), broken);
  Json config = to_json(model.config);
  config.erase(std::string(kQuantizationKey));
  if (model.quantization) {
    config[std::string(kQuantizationKey)] = {{"quant_method", "hone"},
                                             {"training", model.quantization->method},
                                             {"arithmetic", "simulated"},
                                             {"layers", to_json(model.quantization->plan)}};
    const std::string notice = notice_for_other_programs(model.quantization->plan);
    if (!notice.empty()) config[std::string(kQuantizationKey)]["notice"] = notice;
  }
  write_file(folder / "config.json", to_document(config));
  TensorMap tensors;
  for (const auto& [name, tensor] : model.parameters.tensors())
    tensors.emplace(name, tensor.on(cpu()));
  save_checkpoint(folder, tensors);
}

Graph build_graph(const Model& model, const OpTable& ops, const GraphInputs& inputs) {
  return build_bert(ops, model.config, inputs);
}

}  // namespace hone
