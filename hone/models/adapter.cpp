#include "hone/models/adapter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hone/analysis/parameters.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/safetensors.h"
#include "hone/text/tokenizer_files.h"

namespace hone {
namespace {

const Architecture& architecture_of(const Model& model) {
  return find_architecture(model.facts.architecture, "a model");
}

// Returns "bert.pooler" for "bert.pooler.dense"; empty for top-level modules.
std::string around(const std::string& module) {
  const std::size_t dot = module.rfind('.');
  return dot == std::string::npos ? "" : module.substr(0, dot);
}

// Returns the modules outside the encoder: "pre_classifier" and "classifier".
std::vector<std::string> head_modules(const Architecture& architecture) {
  std::vector<std::string> modules;
  for (const std::string_view name : {architecture.head.dense, architecture.head.classes}) {
    const std::string module(name.substr(0, name.find('.')));
    const bool known = std::ranges::find(modules, module) != modules.end();
    if (!module.empty() && module != architecture.encoder.name && !known) modules.push_back(module);
  }
  return modules;
}

// Turns negative zeros into zeros, because packing may do so.
void add_values(const Tensor& tensor, Fingerprint& hash) {
  Tensor values = dense_on(tensor, cpu());
  if (values.dtype() == DType::f32) {
    values = values.contiguous_copy();
    for (float& value : values.values<float>()) value += 0.0f;
  }
  hash.add(host_bytes(values));
}

// Hashes the frozen parameters: all except the trained ones. Packed weights count as their unpacked values.
std::string base_fingerprint(const Model& adapted, const Session& session) {
  const auto is_trained = [&](const std::string& name) {
    const Node* parameter = adapted.graph.find(name);
    return parameter != nullptr && parameter->trainable();
  };
  ParameterStore parameters = adapted.parameters;
  if (has_packed_weights(adapted.graph)) {
    Model plain = adapted;
    transform(plain, "unpack", session);
    parameters = plain.parameters;
  }
  Fingerprint hash;
  for (const auto& [name, tensor] : parameters.tensors()) {
    if (is_trained(name)) continue;
    hash.add(name);
    add_values(tensor, hash);
  }
  return hash.text();
}

// ---- in PEFT's format

TensorMap trained_tensors(const Model& model) {
  TensorMap tensors;
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    if (parameter->trainable())
      tensors.emplace(fmt::format("{}{}", kAdapterPrefix, parameter->name()),
                      dense_on(model.parameters.at(parameter->name()), cpu()));
  return tensors;
}

// Returns the largest modules whose parameters are all trained directly: "classifier" for "classifier.dense" and
// "classifier.out_proj".
std::vector<std::string> saved_modules(const Graph& graph) {
  const std::vector<Node*> parameters = graph.of_kind(NodeKind::parameter);
  const auto is_saved = [&](const std::string& module) {
    return std::ranges::all_of(parameters, [&](const Node* parameter) {
      return !parameter->name().starts_with(module + ".") ||
             (parameter->trainable() && !is_adapter(*parameter));
    });
  };
  std::set<std::string> modules;
  for (const Node* parameter : parameters) {
    std::string module = around(parameter->name());
    if (!is_saved(module)) continue;
    for (std::string next = around(module); !next.empty() && is_saved(next); next = around(next))
      module = next;
    modules.insert(module);
  }
  return {modules.begin(), modules.end()};
}

Json config_of(const Model& model, const AdapterOrigin& origin) {
  const LoraOptions& options = origin.options;
  std::vector<std::string> linears;
  for (const Adapter& adapter : adapters(model.graph)) linears.push_back(adapter.linear->name());
  HONE_ASSERT(!linears.empty(), "a model without adapters");
  const std::vector<std::string> saved = saved_modules(model.graph);
  // For this task type, PEFT saves the head even if the list lacks it.
  const bool with_head = std::ranges::any_of(saved, [&](const std::string& module) {
    return module == head_modules(architecture_of(model)).back();
  });
  return {{"peft_type", "LORA"},
          {"task_type", with_head ? Json("SEQ_CLS") : Json()},
          {"base_model_name_or_path", origin.base},
          {"r", options.rank},
          {"lora_alpha", options.alpha},
          {"lora_dropout", options.dropout},
          {"use_rslora", options.rank_stabilized},
          {"bias", "none"},
          {"target_modules", shortest_targets(model.graph, linears)},
          {"modules_to_save", saved.empty() ? Json() : Json(saved)},
          {"inference_mode", true}};
}

// ---- on models

// Adapters of encoders without a head (PEFT's FEATURE_EXTRACTION) omit the encoder's name.
AdapterFolder named_for(const AdapterFolder& adapter, const Model& model) {
  const std::string front = fmt::format("{}.", architecture_of(model).encoder.name);
  const bool omits_encoder_name =
      std::ranges::all_of(adapter.options.target, [&](const std::string& linear) {
        return model.graph.find(linear) == nullptr && model.graph.find(front + linear) != nullptr;
      });
  if (!omits_encoder_name) return adapter;
  AdapterFolder named = adapter;
  for (std::vector<std::string>* names : {&named.options.target, &named.options.modules_to_save})
    for (std::string& name : *names) name = front + name;
  named.numbers.clear();
  for (const auto& [name, numbers] : adapter.numbers) named.numbers.emplace(front + name, numbers);
  const auto rename = [&](const TensorMap& tensors) {
    TensorMap renamed;
    for (const auto& [name, tensor] : tensors) renamed.emplace(front + name, tensor);
    return renamed;
  };
  named.tensors = rename(adapter.tensors);
  named.biases = rename(adapter.biases);
  return named;
}

void replace_biases(const AdapterFolder& adapter, Model& model) {
  for (const auto& [name, tensor] : adapter.biases) {
    const Node* parameter = model.graph.find(name);
    const bool fits = parameter != nullptr && parameter->kind() == NodeKind::parameter &&
                      tensor.sizes() == resolve(parameter->types()[0].shape, {});
    user_check(fits, "{}: the model has no matching parameter for {} {}", adapter.weights.string(),
               name, to_string(tensor.sizes()));
    model.parameters.set(name, tensor);
    std::erase(model.untrained_head_parameters, name);
  }
}

void take_tensors(const AdapterFolder& adapter, Model& model) {
  const std::string where = adapter.weights.string();
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter)) {
    if (!parameter->trainable()) continue;
    const auto found = adapter.tensors.find(parameter->name());
    user_check(found != adapter.tensors.end(), "{}: {}{} is missing", where, kAdapterPrefix,
               parameter->name());
    user_check(found->second.sizes() == resolve(parameter->types()[0].shape, {}),
               "{}: {} must be {} for this model, got {}", where, parameter->name(),
               to_string(parameter->types()[0].shape), to_string(found->second.sizes()));
    model.parameters.set(parameter->name(), found->second);
  }
  for (const auto& [name, tensor] : adapter.tensors) {
    const Node* parameter = model.graph.find(name);
    user_check(parameter != nullptr && parameter->trainable(),
               "{}: the model has no matching parameter for {}", where, name);
    std::erase(model.untrained_head_parameters, name);
  }
}

// Returns the labels of the adapter's head; without names if it has none.
LabelScheme labels_of(const AdapterFolder& adapter, const std::string& base) {
  if (adapter.options.modules_to_save.empty() || !adapter.labels.names.empty())
    return adapter.options.modules_to_save.empty() ? LabelScheme() : adapter.labels;
  const fs::path file = find_encoder(base) / "config.json";
  const ModelFacts facts = model_facts(read_json(file), file.string());
  const Architecture& architecture = find_architecture(facts.architecture, file.string());
  const auto found = adapter.tensors.find(fmt::format("{}.weight", architecture.head.classes));
  // PEFT's folders contain no label names, and the base's config describes another head.
  if (found == adapter.tensors.end() || found->second.rank() != 2 ||
      found->second.size(0) == facts.class_count())
    return {};
  LabelScheme labels{facts.task(), {}};
  for (std::int64_t i = 0; i < found->second.size(0); ++i)
    labels.names.push_back(fmt::format("LABEL_{}", i));
  return labels;
}

}  // namespace

void apply_adapter(const AdapterFolder& folder, Model& model, const std::string& base,
                   const Session& session, BaseMismatch other) {
  const AdapterFolder adapter = named_for(folder, model);
  std::map<LoraNumbers, std::vector<std::string>> linears;
  for (const std::string& linear : adapter.options.target)
    linears[adapter.numbers.at(linear)].push_back(linear);
  with_context(adapter.weights.string(), [&] {
    for (const auto& [numbers, targets] : linears) {
      LoraOptions options = adapter.options;
      options.rank = numbers.rank;
      options.alpha = numbers.alpha;
      options.target = shortest_targets(model.graph, targets);
      insert_adapters(model, options, session);
    }
  });
  take_tensors(adapter, model);
  replace_biases(adapter, model);
  if (adapter.base_fingerprint.empty() ||
      adapter.base_fingerprint == base_fingerprint(model, session))
    return;
  const std::string message = fmt::format(
      "{} was trained with other weights than those of {}: their combination was "
      "never trained",
      adapter.path.string(), base);
  user_check(other == BaseMismatch::warn, "{}; use the base model that the adapter was trained on",
             message);
  model.warnings.push_back(message);
}

TextModel open_with_adapter(const std::string& base, const fs::path& folder, Context& context,
                            std::uint64_t seed, BaseMismatch other) {
  if (folder.empty()) return open_model(base, context, seed);
  user_check(!is_new_model(base),
             "`adapter`: {} has new weights, and no adapter was trained on those", base);
  const AdapterFolder adapter = read_adapter(folder);
  TextModel opened =
      open_model(base, context, seed, labels_of(adapter, base),
                 adapter.options.modules_to_save.empty() ? HeadFit::must_fit : HeadFit::replaced);
  apply_adapter(adapter, opened.model, base, context.session(), other);
  opened.trained_on = read_trained_on(folder);
  opened.truncation = read_truncation(folder);
  return opened;
}

LoraOptions adapter_options(std::string_view text, std::uint64_t seed, const Model& model,
                            const Library& library) {
  const Pass pass =
      parse_pass(fmt::format("insert_lora({})", text), library.passes, library.formats);
  const Attributes given = given_options(*pass.def, text, library.formats);
  LoraOptions options = lora_options(pass.options);
  if (given.find("seed") == nullptr) options.seed = seed;
  if (given.find("modules_to_save") == nullptr)
    options.modules_to_save = head_modules(architecture_of(model));
  for (const std::string& name : model.untrained_head_parameters) {
    user_check(is_within(options.modules_to_save, name),
               "{} is not in the model's files: it is initialized at random and would not be "
               "saved with the adapter; add its module to modules_to_save",
               name);
  }
  return options;
}

void insert_adapters(Model& model, const LoraOptions& options, const Session& session) {
  std::vector<std::string> unpacked;
  for (const Node* node : model.graph.of_kind(NodeKind::operation)) {
    const std::string name = is_unpacked(*node) ? packed_parameter(*node) : "";
    if (!name.empty() && is_within(options.modules_to_save, name)) unpacked.push_back(name);
  }
  if (!unpacked.empty())
    transform(model, fmt::format("unpack(parameters=\"{}\")", fmt::join(unpacked, ",")), session);
  transform(model, insert_lora_text(options), session);
  if (options.alpha == 0)
    model.warnings.push_back(
        fmt::format("alpha is 0: adapters (target {}) change nothing, and learn "
                    "nothing in training; give another alpha",
                    fmt::join(options.target, ", ")));
}

AdapterOrigin adapter_origin(const Model& adapted, const LoraOptions& options,
                             const std::string& base, const Session& session) {
  return {options, base, base_fingerprint(adapted, session)};
}

void write_adapter(const TextModel& adapted, const AdapterOrigin& origin, const fs::path& folder) {
  const Model& model = adapted.model;
  const std::string broken = model.parameters.first_not_finite();
  user_check(broken.empty(),
             "{}: '{}' has values that are NaN or infinite, so the adapter is unusable and "
             "is not saved",
             folder.string(), broken);
  write_safetensors(folder / kAdapterWeights, trained_tensors(model), {{"format", "pt"}});
  write_file(folder / kAdapterConfig, to_document(config_of(model, origin)));
  const Json base = {{"fingerprint", origin.base_fingerprint},
                     {"labels", model.facts.labels},
                     {"problem_type", to_string(model.facts.task())}};
  write_file(folder / kAdapterBase, to_document(base));
  write_other_files(adapted, folder);
}

AdapterSize adapter_size(const Model& adapted, const fs::path& folder) {
  AdapterSize size{.linear_layers = std::ssize(adapters(adapted.graph))};
  size.parameters = model_size(adapted, {}).parameters;
  size.trained = total_parameters(adapted.graph).trainable;
  for (const auto& [name, tensor] : adapted.parameters.tensors())
    if (const Node* parameter = adapted.graph.find(name); !parameter->trainable())
      size.base_bytes += static_cast<std::int64_t>(tensor.size_bytes());
  if (!folder.empty()) size.disk_bytes = weight_file_bytes(folder);
  return size;
}

std::string to_text(const AdapterSize& size) {
  std::string text = fmt::format(
      "Trained: {} of {} parameters ({}), adapters of {} linear layer{}", grouped(size.trained),
      grouped(size.parameters),
      share_text(static_cast<double>(size.trained) / static_cast<double>(size.parameters)),
      size.linear_layers, size.linear_layers == 1 ? "" : "s");
  if (size.disk_bytes)
    text += fmt::format("; {} on disk, the base model {} in memory",
                        human_bytes(static_cast<double>(*size.disk_bytes)),
                        human_bytes(static_cast<double>(size.base_bytes)));
  return text + ".";
}

const Fields& fields_of(const AdapterSize*) {
  using A = AdapterSize;
  static const Fields fields = describe<A>(
      "adapter_size", "A low-rank adapter and its base model.",
      field<&A::linear_layers>("linear_layers", "Linear layers with an adapter."),
      field<&A::trained>("trained",
                         "Trained parameters, including those of modules trained in full."),
      field<&A::parameters>("parameters", "All parameters, including those of the base model."),
      field<&A::base_bytes>("base_bytes", Unit::bytes, "Untrained parameters in memory."),
      field<&A::disk_bytes>("disk_bytes", Unit::bytes,
                            "File of the trained parameters; null: not saved."));
  return fields;
}

ModelSize size_with_adapter(const Model& adapted, const fs::path& folder, const fs::path& adapter) {
  ModelSize size = model_size(adapted, folder);
  const std::optional<std::int64_t> more =
      adapter.empty() ? std::nullopt : weight_file_bytes(adapter);
  if (size.disk_bytes && more) *size.disk_bytes += *more;
  return size;
}

std::string name_with_adapter(const std::string& model, const std::string& adapter) {
  return adapter.empty() ? model : fmt::format("{} with {}", model, adapter);
}

}  // namespace hone
