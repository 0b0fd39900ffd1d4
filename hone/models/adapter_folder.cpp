#include "hone/models/adapter_folder.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/git_lfs.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/checkpoint_names.h"
#include "hone/frontends/huggingface/torch_file.h"
#include "hone/tensor/parameter_store.h"

namespace hone {
namespace {

constexpr std::string_view kLowName = ".lora_A.weight", kHighName = ".lora_B.weight";

// Returns whether `linear` ends in these name components: "query" in "bert.encoder.layer.0.attention.self.query".
bool ends_in(std::string_view names, std::string_view linear) {
  if (!linear.ends_with(names)) return false;
  const std::size_t front = linear.size() - names.size();
  return front == 0 || linear[front - 1] == '.';
}

// Returns whether a key is read, or does not change the computation (the tensors show which linears have adapters and
// which modules are saved). All other keys must be off.
bool is_known(std::string_view key) {
  constexpr std::string_view kUsed[] = {"peft_type",     "r",    "lora_alpha",   "lora_dropout",
                                        "use_rslora",    "bias", "rank_pattern", "alpha_pattern",
                                        "target_modules"};
  // PEFT treats fan_in_fan_out as false for linears.
  constexpr std::string_view kIgnored[] = {"auto_mapping",
                                           "base_model_name_or_path",
                                           "exclude_modules",
                                           "fan_in_fan_out",
                                           "inference_mode",
                                           "layers_pattern",
                                           "layers_to_transform",
                                           "megatron_core",
                                           "modules_to_save",
                                           "peft_version",
                                           "qalora_group_size",
                                           "revision",
                                           "task_type"};
  return std::ranges::find(kUsed, key) != std::end(kUsed) ||
         std::ranges::find(kIgnored, key) != std::end(kIgnored);
}

bool is_disabled(std::string_view key, const Json& value) {
  // These only initialize adapters; other values also change the base.
  if (key == "init_lora_weights")
    return value.is_boolean() || value == "gaussian" || value == "orthogonal";
  return value.is_null() || value == false || value == "none" ||
         ((value.is_object() || value.is_array()) && value.empty());
}

double number_of(const Json& config, const char* key, double otherwise, const std::string& where) {
  if (!config.contains(key)) return otherwise;
  user_check(config[key].is_number(), "{}: {} must be a number, got {}", where, key,
             to_line(config[key]));
  return config[key].get<double>();
}

LoraOptions read_options(const Json& config, const std::string& where) {
  user_check(config.is_object(), "{}: expected an object", where);
  // Keys of other adapter types have no meaning here.
  const Json& type = config.value("peft_type", Json("LORA"));
  user_check(type == "LORA",
             "{}: peft_type is {}, which is not supported; hone supports LORA, with or without "
             "rsLoRA, on linear layers",
             where, to_line(type));
  for (const auto& [key, value] : config.items())
    user_check(
        is_known(key) || is_disabled(key, value),
        "{}: {} is {}, which is not supported; hone computes LoRA and rsLoRA of linear layers",
        where, key, to_line(value));
  const Json& rank = config.value("r", Json(8));
  user_check(rank.is_number_integer(), "{}: r must be a whole number, got {}", where,
             to_line(rank));
  const Json& rank_stabilized = config.value("use_rslora", Json(false));
  user_check(rank_stabilized.is_boolean(), "{}: use_rslora must be true or false, got {}", where,
             to_line(rank_stabilized));
  return {.target = {},
          .rank = rank.get<std::int64_t>(),
          .alpha = number_of(config, "lora_alpha", 8, where),
          .dropout = number_of(config, "lora_dropout", 0, where),
          .rank_stabilized = rank_stabilized.get<bool>()};
}

// Looks a linear up in rank_pattern or alpha_pattern: the value of the first name that it ends in, or of "^" and its
// whole name, like PEFT's get_pattern_key.
const Json* pattern_value(const Json& config, const char* pattern, const std::string& linear,
                          const std::string& where) {
  const auto found = config.find(pattern);
  if (found == config.end() || found->is_null()) return nullptr;
  user_check(found->is_object(), "{}: {} must be an object of numbers by name, got {}", where,
             pattern, to_line(*found));
  for (const auto& item : found->items()) {
    const std::string& name = item.key();
    user_check(name.find_first_of("\\*+?()[]{}|$") == std::string::npos,
               "{}: {}: '{}' is a regular expression, which is not supported; give the last names "
               "of linear layers",
               where, pattern, shown_name(name));
    const bool whole = name.starts_with('^');
    const std::string_view plain = std::string_view(name).substr(whole ? 1 : 0);
    if (whole ? linear != plain : !ends_in(plain, linear)) continue;
    return &item.value();
  }
  return nullptr;
}

LoraNumbers numbers_of(const std::string& linear, const Json& config, const LoraOptions& options,
                       const std::string& where) {
  LoraNumbers numbers{options.rank, options.alpha};
  if (const Json* rank = pattern_value(config, "rank_pattern", linear, where)) {
    user_check(rank->is_number_integer(),
               "{}: rank_pattern: expected a whole number for {}, got {}", where, linear,
               to_line(*rank));
    numbers.rank = rank->get<std::int64_t>();
  }
  if (const Json* alpha = pattern_value(config, "alpha_pattern", linear, where)) {
    user_check(alpha->is_number(), "{}: alpha_pattern: expected a number for {}, got {}", where,
               linear, to_line(*alpha));
    numbers.alpha = alpha->get<double>();
  }
  return numbers;
}

// PEFT ignores tensors of linears that target_modules does not name. Regular expressions and "all-linear" are strings.
void check_targets(const Json& config, const AdapterFolder& adapter, const std::string& where) {
  const Json& named = config.value("target_modules", Json());
  if (!named.is_array() || named.empty()) return;
  std::vector<std::string> targets, last_names;
  for (const Json& target : named) {
    user_check(target.is_string(), "{}: target_modules: expected names, got {}", where,
               to_line(target));
    targets.push_back(target.get<std::string>());
  }
  for (const std::string& linear : adapter.options.target)
    last_names.push_back(linear.substr(linear.rfind('.') + 1));
  for (const std::string& linear : adapter.options.target) {
    const bool is_named = std::ranges::any_of(
        targets, [&](const std::string& target) { return ends_in(target, linear); });
    user_check(is_named, "{}: target_modules lists {}, but {} contains the adapter of {}{}", where,
               fmt::join(targets, ", "), adapter.weights.filename().string(), shown_name(linear),
               did_you_mean(targets.front(), last_names));
  }
}

std::string tensor_name(const std::string& key, const std::string& where) {
  const std::string name = unwrapped_name(key);
  user_check(name.starts_with(kAdapterPrefix), "{}: expected names that begin with {}, got {}",
             where, kAdapterPrefix, key);
  // The linear wrapped by an adapter: "query.base_layer.bias".
  constexpr std::string_view kBaseLayer = ".base_layer.";
  std::string plain = name.substr(kAdapterPrefix.size());
  if (const std::size_t at = plain.find(kBaseLayer); at != std::string::npos)
    plain.replace(at, kBaseLayer.size(), ".");
  return plain;
}

// If `bias` is "all", PEFT saves the biases of fully saved modules two more times: "classifier.original_module.bias".
bool is_second_copy(const std::string& name) {
  return name.find(".original_module.") != std::string::npos ||
         name.find(".modules_to_save.") != std::string::npos;
}

void read_tensor(const std::string& key, const Tensor& tensor, const std::string& where,
                 AdapterFolder& adapter) {
  user_check(info(tensor.dtype()).floating, "{}: {} must be of floating point, got {}", where, key,
             info(tensor.dtype()).name);
  const std::string name = tensor_name(key, where);
  if (is_second_copy(name)) return;
  LoraOptions& options = adapter.options;
  if (name.ends_with(kLowName)) {
    options.target.push_back(name.substr(0, name.size() - kLowName.size()));
  } else if (!name.ends_with(kHighName)) {
    user_check(name.find(".lora_") == std::string::npos && name.find('.') != std::string::npos,
               "{}: {} belongs to a kind of adapter that hone does not support", where, key);
    const std::string module = name.substr(0, name.rfind('.'));
    if (std::ranges::find(options.modules_to_save, module) == options.modules_to_save.end())
      options.modules_to_save.push_back(module);
  }
  user_check(adapter.tensors.emplace(name, tensor.cast(DType::f32)).second,
             "{}: two tensors are {}{}; keep one of them", where, kAdapterPrefix, name);
}

// Reads rank and alpha of every linear with an adapter.
void read_numbers(const Json& config, const std::string& where, AdapterFolder& adapter) {
  const LoraOptions& options = adapter.options;
  for (const std::string& linear : options.target) {
    const LoraNumbers numbers = numbers_of(linear, config, options, where);
    const Tensor& low = adapter.tensors.at(linear + std::string(kLowName));
    user_check(low.rank() == 2 && low.size(0) == numbers.rank,
               "{}: {}{}{} must have {} rows (r of {}), got {}", adapter.weights.string(),
               kAdapterPrefix, linear, kLowName, numbers.rank, kAdapterConfig,
               to_string(low.sizes()));
    adapter.numbers.emplace(linear, numbers);
  }
}

// With `bias` "all" or "lora_only", biases of the base are saved, without their weights.
void take_biases(const Json& config, const std::string& where, AdapterFolder& adapter) {
  const Json& bias = config.value("bias", Json("none"));
  if (bias.is_null() || bias == "none") return;
  user_check(bias == "all" || bias == "lora_only",
             "{}: bias: expected none, all or lora_only, got {}", where, to_line(bias));
  std::erase_if(adapter.options.modules_to_save, [&](const std::string& module) {
    if (adapter.tensors.contains(module + ".weight")) return false;
    const auto found = adapter.tensors.find(module + ".bias");
    if (found == adapter.tensors.end()) return false;
    adapter.biases.insert(adapter.tensors.extract(found));
    return true;
  });
}

void read_base(const Json& base, const std::string& where, AdapterFolder& adapter) {
  const auto is_text = [](const Json& value) { return value.is_string(); };
  const bool whole = base.is_object() && is_text(base.value("fingerprint", Json())) &&
                     is_text(base.value("problem_type", Json())) &&
                     base.value("labels", Json()).is_array() &&
                     std::ranges::all_of(base["labels"], is_text);
  user_check(whole,
             "{}: expected the strings `fingerprint` and `problem_type`, and the list `labels`",
             where);
  adapter.base_fingerprint = base["fingerprint"];
  adapter.labels = with_context(where, [&] {
    return LabelScheme{parse_task(base["problem_type"].get<std::string>()), base["labels"]};
  });
}

// Returns the first existing weights file.
fs::path weights_in(const fs::path& folder) {
  constexpr const char* kFiles[] = {kAdapterWeights, "adapter_model.bin"};
  for (const char* file : kFiles)
    if (path_exists(folder / file)) return folder / file;
  fail("{}: no adapter weights; expected {}", folder.string(), fmt::join(kFiles, ", "));
}

}  // namespace

AdapterFolder adapter_of(const Json& config, const TensorMap& tensors, const Json& base,
                         const fs::path& weights) {
  const fs::path folder = weights.parent_path();
  const std::string where = (folder / kAdapterConfig).string();
  AdapterFolder adapter{.path = folder, .weights = weights, .options = read_options(config, where)};
  for (const auto& [key, tensor] : tensors) read_tensor(key, tensor, weights.string(), adapter);
  user_check(!adapter.options.target.empty(), "{}: it contains no adapters", weights.string());
  const std::string broken = ParameterStore(adapter.tensors).first_not_finite();
  user_check(broken.empty(), "{}: {} has values that are NaN or infinite", weights.string(),
             broken);
  read_numbers(config, where, adapter);
  check_targets(config, adapter, where);
  take_biases(config, where, adapter);
  if (!base.is_null()) read_base(base, (folder / kAdapterBase).string(), adapter);
  return adapter;
}

AdapterFolder read_adapter(const fs::path& folder) {
  user_check(path_exists(folder / kAdapterConfig),
             "{}: no adapter; expected a folder with {} and {}, as `hone train --lora` and PEFT "
             "write it",
             folder.string(), kAdapterConfig, kAdapterWeights);
  const Json config = read_json(folder / kAdapterConfig);
  const fs::path weights = weights_in(folder), base = folder / kAdapterBase;
  refuse_git_lfs_pointer(weights, MappedFile(weights).text(), "weights");
  const TensorMap tensors =
      weights.extension() == ".bin" ? read_torch_file(weights) : read_safetensors(weights).tensors;
  return adapter_of(config, tensors, path_exists(base) ? read_json(base) : Json(), weights);
}

}  // namespace hone
