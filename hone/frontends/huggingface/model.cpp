#include "hone/frontends/huggingface/model.h"

#include <algorithm>

#include "hone/base/cpu.h"
#include "hone/base/own_process.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/element_type.h"
#include "hone/frontends/huggingface/graph_file.h"
#include "hone/frontends/huggingface/image_processor.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/frontends/huggingface/own_keys.h"
#include "hone/frontends/huggingface/weight_matcher.h"
#include "hone/ir/print.h"
#include "hone/passes/keep_outputs.h"
#include "hone/passes/pack.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/bitmaps.h"

namespace hone {
namespace {

bool is_head(const Architecture& arch, const std::string& name) {
  return std::ranges::any_of(arch.fresh,
                             [&](std::string_view head) { return name.starts_with(head); });
}

// Returns whether the head was trained for other labels than the data's.
bool is_of_other_labels(const ModelFacts& facts, const LabelScheme& labels) {
  if (labels.task != facts.task() || labels.names.size() != facts.labels.size()) return true;
  return labels.names != facts.labels && !facts.has_default_labels();
}

std::string outputs_text(Task task, const std::vector<std::string>& labels) {
  if (task == Task::regression)
    return fmt::format("{} number{}", labels.size(), labels.size() == 1 ? "" : "s");
  return fmt::format("{} {}: {}", labels.size(),
                     task == Task::multi_label ? "labels, any number of them" : "classes",
                     list_some(labels));
}

// Gives the model the labels of the data. A head trained for other labels is removed, with a warning, or is an error.
// Returns the names of the removed parameters.
std::vector<std::string> adopt_labels(ModelFacts& facts, const LabelScheme& labels, HeadFit head,
                                      bool own_graph, WeightMatcher& weights,
                                      const fs::path& folder, std::vector<std::string>& warnings) {
  std::vector<std::string> dropped;
  if (labels.names.empty()) return dropped;
  const bool fits = labels.task == facts.task() && labels.names.size() == facts.labels.size();
  const bool may_replace = head == HeadFit::may_be_new || head == HeadFit::replaced;
  if (weights.has_head() && may_replace && is_of_other_labels(facts, labels)) {
    user_check(!own_graph,
               "{}: a quantized model cannot get a new head; start from the model that was "
               "quantized",
               folder.string());
    dropped = weights.drop_head();
    const std::string task =
        labels.task == facts.task()
            ? ""
            : fmt::format(" ({} in place of {})", to_string(labels.task), to_string(facts.task()));
    if (head == HeadFit::may_be_new)
      warnings.push_back(fmt::format(
          "the model's labels are {}, the data's are {}{}: {} are initialized at random; "
          "train the model before use",
          list_some(facts.labels), list_some(labels.names), task, list_some(dropped)));
    apply_labels(facts, labels);
  }
  user_check(fits || !weights.has_head(),
             "{}: the model predicts {}; the data has {}; use data with the model's labels, "
             "or `ignore_mismatched_sizes` to start with a new head",
             folder.string(), outputs_text(facts.task(), facts.labels),
             outputs_text(labels.task, labels.names));
  if (!fits || facts.has_default_labels()) apply_labels(facts, labels);
  return dropped;
}

// Versions before graph.hone treated every rank-1 parameter as a bias; a layer norm's gain is now its weight.
void name_gains(const Graph& graph, QuantizationPlan& plan) {
  for (auto& [name, formats] : plan) {
    const Node* node = graph.find(name);
    if (node == nullptr || !formats.bias || formats.weight) continue;
    for (std::size_t i = 0; i < node->inputs().size(); ++i)
      if (operand_of(*node, i) == Operand::weight && node->inputs()[i].type().rank() < 2)
        formats.weight = formats.bias;
  }
}

// Builds the graph in training mode, with all inputs.
Graph built_graph(const OpTable& ops, const Architecture& arch, const ModelFacts& facts) {
  return build_graph(ops, arch, config_of(facts), {.labels = facts.task()});
}

// Returns the graph stored in the folder, or the one that the config builds.
Graph graph_of(const fs::path& folder, const Architecture& arch, const ModelFacts& facts,
               std::optional<Quantization>& quantization, const OpTable& ops,
               const FormatTable& formats) {
  const fs::path file = folder / kGraphFile;
  if (!path_exists(file)) {
    Graph graph = built_graph(ops, arch, facts);
    if (quantization)
      with_context((folder / "config.json").string() + ": quantization_config", [&] {
        name_gains(graph, quantization->plan);
        quantize(graph, quantization->plan);
      });
    return graph;
  }
  Graph graph = read_graph_file(file, ops, formats);
  for (const char* output : {"logits", "loss"})
    user_check(static_cast<bool>(graph.output(output)), "{}: the graph has no output '{}'",
               file.string(), output);
  const Type& logits = graph.output("logits").type();
  user_check(logits.rank() == 2 && logits.dim(-1) == Dim(facts.class_count()),
             "{}: the logits are {}, config.json lists {} classes; the two files do not "
             "match",
             file.string(), to_string(logits), facts.class_count());
  const Node* labels = graph.find("labels");
  user_check(labels == nullptr || labels->types()[0] == labels_type(facts.task(), logits),
             "{}: the loss is not that of {}, the task in config.json; the two files do not "
             "match",
             file.string(), to_string(facts.task()));
  user_check(has_quantizers(graph) == quantization.has_value(),
             "{}: {} quantizers, in contrast to the quantization_config of config.json; the "
             "two files do not match",
             file.string(), has_quantizers(graph) ? "there are" : "there are no");
  return graph;
}

const Architecture& architecture_of(const ModelFacts& facts) {
  return find_architecture(facts.architecture, "a model");
}

void warn(std::vector<std::string> initialised, const std::vector<std::string>& dropped_head,
          const WeightMatcher& weights, std::vector<std::string>& warnings) {
  std::erase_if(initialised, [&](const std::string& name) {
    return std::ranges::find(dropped_head, name) != dropped_head.end();  // has its own warning
  });
  if (!initialised.empty())
    warnings.push_back(
        fmt::format("{}: missing, initialized at random: {}; train the model before use",
                    weights.source(), list_some(initialised)));
  if (const std::vector<std::string> dropped = weights.unused(); !dropped.empty())
    warnings.push_back(
        fmt::format("in the checkpoint but not in the model, dropped: {}", list_some(dropped)));
}

// Returns the number of rows of matching parameters, or nothing if they differ (for config sizes).
std::optional<std::int64_t> shown_rows(const Graph& graph, const std::string& front,
                                       const std::string& behind) {
  std::optional<std::int64_t> rows;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (!parameter->name().starts_with(front) || !parameter->name().ends_with(behind)) continue;
    const std::int64_t found = parameter->types()[0].dim(0).size;
    if (rows && *rows != found) return std::nullopt;
    rows = found;
  }
  return rows;
}

// Returns the number of consecutive layers 0, 1, … with parameters under `layers`.
std::optional<std::int64_t> shown_layers(const Graph& graph, const std::string& layers) {
  const std::vector<Node*> parameters = graph.of_kind(NodeKind::parameter);
  std::int64_t count = 0;
  while (std::ranges::any_of(parameters, [&](const Node* parameter) {
    return parameter->name().starts_with(fmt::format("{}{}.", layers, count));
  }))
    ++count;
  return count > 0 ? std::optional(count) : std::nullopt;
}

double bytes_of_parameters(const Graph& graph) {
  double bytes = 0;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const Type& type = parameter->types()[0];
    bytes += static_cast<double>(element_count(resolve(type.shape, {}))) *
             static_cast<double>(info(type.dtype).size_bytes);
  }
  return bytes;
}

// Updates the config's sizes after a pass removed rows, neurons or layers.
void follow_sizes(Model& model) {
  const Architecture& arch = architecture_of(model.facts);
  if (arch.of_images()) return;
  const EncoderModules& modules = arch.encoder;
  const std::string layers = fmt::format("{}.{}.", modules.name, modules.layers);
  const std::string widened = fmt::format(".{}.bias", modules.layer.widened);
  EncoderConfig config = config_of(model.facts);
  const auto follow = [&](std::int64_t EncoderConfig::*size, std::optional<std::int64_t> shown) {
    if (!shown || *shown == config.*size) return;
    config.*size = *shown;
    model.facts
        .config[std::ranges::find(arch.keys.sizes, size, &ConfigKey<std::int64_t>::member)->key] =
        *shown;
  };
  follow(&EncoderConfig::vocab_size,
         shown_rows(model.graph, word_table(modules), word_table(modules)));
  follow(&EncoderConfig::num_hidden_layers, shown_layers(model.graph, layers));
  follow(&EncoderConfig::intermediate_size, shown_rows(model.graph, layers, widened));
  model.facts.limits = input_limits(modules, config);
}

// Besides the parameters, every command needs memory for code pages and small allocations. Codes stay in their file
// until they are executed.
void predict_parameters(const Graph& graph) {
  constexpr double kOverheadBytes = 1 << 20;
  double codes = 0;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->role() == ParameterRole::codes)
      codes += static_cast<double>(element_count(resolve(parameter->types()[0].shape, {})));
  predict_memory(static_cast<double>(resident_bytes()) + bytes_of_parameters(graph) - codes +
                 kOverheadBytes);
}

Safetensors saved_weights(const Model& model) {
  Safetensors file{.tensors = {}, .metadata = {{"format", "pt"}}};
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    if (info(parameter->role()).saved)
      file.tensors.emplace(parameter->name(), model.parameters.at(parameter->name()).on(cpu()));
  return file;
}

void check_none_missing(const std::vector<std::string>& missing, const Graph& graph,
                        const WeightMatcher& weights, std::string_view required_by) {
  if (missing.empty()) return;
  const std::vector<std::string> unused = weights.unused();
  const std::string others =
      unused.empty() ? "" : fmt::format("; other tensors there: {}", list_some(unused));
  fail(
      "{}: {} of the {} weights that {} needs are missing: {}{}; download the whole "
      "checkpoint, or save the model's state_dict() with the names that transformers "
      "uses",
      weights.source(), missing.size(), graph.of_kind(NodeKind::parameter).size(), required_by,
      list_some(missing), others);
}

// Applies the masks of torch.nn.utils.prune.
void take_masks(Model& model, const WeightMatcher& weights) {
  std::size_t count = 0;
  for (Node* parameter : model.graph.of_kind(NodeKind::parameter)) {
    const Tensor kept = weights.mask_of(*parameter);
    if (!kept.defined() || !model.parameters.contains(parameter->name())) continue;
    insert_mask(model.graph, model.parameters, *parameter, kept);
    ++count;
  }
  if (count > 0)
    model.facts.history.passes.push_back(fmt::format("torch_prune(parameters={})", count));
}

// Hugging Face stores the image size in the preprocessing config.
void take_image_size(Json& config, const fs::path& folder) {
  const fs::path file = folder / kImageProcessorFile;
  if (!config.is_object() || config.contains("image_size") || !path_exists(file)) return;
  if (const std::optional<std::int64_t> size = processed_size(read_json(file)))
    config["image_size"] = *size;
}

}  // namespace

Model load_model(const fs::path& folder, const OpTable& ops, const FormatTable& formats,
                 std::uint64_t seed, const LabelScheme& labels, HeadFit head) {
  user_check(is_folder(folder),
             "{}: no such model folder; give a folder with config.json and weights",
             folder.string());
  const std::string where = (folder / "config.json").string();
  Json file = read_json(folder / "config.json");
  const Architecture& arch = find_architecture(model_type(file, where), where);
  if (arch.of_images()) take_image_size(file, folder);
  ModelFacts facts = facts_of(arch, file, where);
  std::optional<Quantization> quantization = read_quantization(file, formats, where);
  Checkpoint checkpoint = load_checkpoint(folder);
  const std::string source = (folder / checkpoint.source).string();
  const bool has_graph = path_exists(folder / kGraphFile);
  const bool is_own_file = checkpoint.source == kHoneWeightsFile;
  const char* const graph_file = has_graph ? kGraphFile : "config.json";
  WeightMatcher weights(arch, std::move(checkpoint.tensors), source, graph_file);
  std::vector<std::string> warnings = weights.notes();
  for (std::string& warning : label_map_warnings(file, config_of(facts), where))
    warnings.push_back(std::move(warning));
  const bool own_graph = has_graph || quantization.has_value();
  facts.history = read_history(file, own_graph, where);
  const std::vector<std::string> dropped_head =
      adopt_labels(facts, labels, head, own_graph, weights, folder, warnings);
  // The head is unused, so it may have any task and size.
  if (head == HeadFit::unused && !own_graph && weights.has_head_of_other_size(facts.class_count()))
    weights.drop_head();
  Graph graph = graph_of(folder, arch, facts, quantization, ops, formats);
  Model model{.graph = std::move(graph),
              .parameters = {},
              .facts = std::move(facts),
              .quantization = std::move(quantization),
              .warnings = std::move(warnings)};
  predict_parameters(model.graph);
  std::vector<std::string> initialised, missing;
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter)) {
    Tensor tensor = weights.take(*parameter);
    if (tensor.defined()) {
      model.parameters.set(parameter->name(), std::move(tensor));
    } else {
      (is_head(arch, parameter->name()) && !own_graph ? initialised : missing)
          .push_back(parameter->name());
    }
  }
  user_check(missing.empty() || has_graph || !is_own_file,
             "{}: {} is missing, the graph for the weights in {}; copy it from the original "
             "folder",
             folder.string(), kGraphFile, kHoneWeightsFile);
  check_none_missing(missing, model.graph, weights, graph_file);
  take_masks(model, weights);
  ThreadPool alone(1);
  model.facts.stored_without_zeros = checkpoint.bytes_saved > 0 && !has_packed_weights(model.graph);
  if (has_packed_weights(model.graph)) {
    with_context(folder.string(),
                 [&] { check_packed_weights(model.graph, model.parameters, alone); });
  }
  // This must come after loading the weights: before that, only config.json determines sizes, which may exceed all
  // memory.
  const EncoderConfig config = config_of(model.facts);
  for (const std::string& name : initialised)
    model.parameters.set(name, initial_value(*model.graph.find(name), arch, config, seed, alone));
  model.untrained_head_parameters = initialised;
  if (head == HeadFit::unused || head == HeadFit::replaced) initialised.clear();
  warn(initialised, dropped_head, weights, model.warnings);
  return model;
}

bool has_trained_head(const fs::path& folder) {
  const std::string where = (folder / "config.json").string();
  const Architecture& arch = find_architecture(model_type(read_json(where), where), where);
  Checkpoint checkpoint = load_checkpoint(folder);
  const std::string source = (folder / checkpoint.source).string();
  return WeightMatcher(arch, std::move(checkpoint.tensors), source, where).has_head();
}

ModelFacts model_facts(const Json& config, std::string_view where) {
  return facts_of(find_architecture(model_type(config, where), where), config, where);
}

Graph config_graph(const ModelFacts& facts, const OpTable& ops) {
  return built_graph(ops, architecture_of(facts), facts);
}

Model new_model(const ModelFacts& facts, const OpTable& ops, std::uint64_t seed, ThreadPool* pool) {
  ThreadPool alone(1);
  const Architecture& arch = architecture_of(facts);
  const EncoderConfig config = config_of(facts);
  Model model{.graph = built_graph(ops, arch, facts), .parameters = {}, .facts = facts};
  predict_parameters(model.graph);
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    model.parameters.set(parameter->name(),
                         initial_value(*parameter, arch, config, seed, pool ? *pool : alone));
  return model;
}

Json external_config(const Model& model) {
  Json config = to_json(architecture_of(model.facts).keys, config_of(model.facts));
  name_element_type(config);
  write_own_keys(config, model, "");
  return config;
}

void save_model(const Model& model, const fs::path& folder) {
  const std::string broken = model.parameters.first_not_finite();
  user_check(broken.empty(),
             "{}: '{}' has values that are NaN or infinite, so the model is unusable and is "
             "not saved",
             folder.string(), broken);
  const Architecture& arch = architecture_of(model.facts);
  const std::string built = to_string(built_graph(model.graph.ops(), arch, model.facts));
  const TransformersLoading elsewhere = transformers_loading(model);
  Json config = to_json(arch.keys, config_of(model.facts));
  name_element_type(config);
  write_own_keys(config, model,
                 elsewhere.loads()
                     ? ""
                     : fmt::format("the graph is in {} and the weights are in {}; transformers and "
                                   "other programs cannot load it: {}",
                                   kGraphFile, kHoneWeightsFile, elsewhere.reason));
  write_file(folder / "config.json", to_document(config));
  if (const std::string text = to_string(model.graph); text != built)
    write_file(folder / kGraphFile, graph_file_text(model.graph));
  Safetensors weights = saved_weights(model);
  if (is_packed(model)) store_bitmaps(weights);
  write_safetensors(folder / (elsewhere.loads() ? kWeightsFile : kHoneWeightsFile), weights.tensors,
                    weights.metadata);
}

bool is_packed(const Model& model) {
  return has_packed_weights(model.graph) || model.facts.stored_without_zeros;
}

namespace {

std::int64_t bytes_of(const Safetensors& weights) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : weights.tensors)
    bytes += static_cast<std::int64_t>(tensor.size_bytes());
  return bytes;
}

}  // namespace

SavedBytes saved_bytes(const Model& model) {
  Safetensors weights = saved_weights(model);
  const std::int64_t all = bytes_of(weights);
  return {.all = all, .left_out = static_cast<std::int64_t>(store_bitmaps(weights))};
}

bool has_many_zeros(const SavedBytes& bytes) {
  constexpr std::int64_t kMinShare = 8;
  return bytes.left_out >= bytes.all / kMinShare;
}

std::map<std::string, std::int64_t> stored_tensor_bytes(const Model& model) {
  Safetensors weights = saved_weights(model);
  if (is_packed(model)) store_bitmaps(weights);
  std::map<std::string, std::int64_t> bytes;
  for (const auto& [name, tensor] : weights.tensors)
    bytes[name] = static_cast<std::int64_t>(tensor.size_bytes());
  return bytes;
}

std::int64_t stored_bytes(const Model& model) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : stored_tensor_bytes(model)) bytes += tensor;
  return bytes;
}

void check_unquantized(const Model& model, const std::string& name) {
  user_check(!model.quantization,
             "{}: it is already quantized ({}); start from the model that was quantized", name,
             model.quantization ? summary(model.quantization->plan) : "");
}

void check_not_packed(const Model& model, const std::string& name) {
  user_check(
      !is_packed(model),
      "{}: its weights are packed; `hone unpack` writes a copy with weights that can be changed",
      name);
}

void follow_graph(Model& model) {
  follow_sizes(model);
  const ParameterStore all = model.parameters;
  for (const auto& [name, tensor] : all.tensors())
    if (model.graph.find(name) == nullptr) model.parameters.erase(name);
  if (has_quantizers(model.graph)) {
    const std::string method = model.quantization ? model.quantization->method : "ptq";
    model.quantization = {current_plan(model.graph), method};
  } else {
    model.quantization.reset();
  }
}

Graph forward_graph(const Model& model) {
  Graph graph = model.graph;
  keep_outputs(graph, {"logits"});
  return graph;
}

Graph unquantized_graph(const Model& model) {
  Graph graph = forward_graph(model);
  unpack_weights(graph);
  remove_quantizers(graph);
  return graph;
}

}  // namespace hone
