#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "hone/base/json.h"
#include "hone/metrics/task.h"
#include "hone/passes/lora.h"
#include "hone/tensor/safetensors.h"

/// Adapter folders in PEFT's format: adapter_config.json and adapter_model.safetensors, or adapter_model.bin of older
/// versions. hone adds base.json, which describes the model that they were trained with.
namespace hone {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterWeights = "adapter_model.safetensors";
inline constexpr const char* kAdapterBase = "base.json";
/// The prefix of parameter names.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";

/// Rank and scale of the adapter of a linear.
struct LoraNumbers {
  std::int64_t rank = 0;
  double alpha = 0;

  auto operator<=>(const LoraNumbers&) const = default;
};

/// The content of an adapter folder.
struct AdapterFolder {
  fs::path path;
  fs::path weights;     ///< path of the tensor file
  LoraOptions options;  ///< targets and modules to save are those with tensors
  std::map<std::string, LoraNumbers> numbers = {};  ///< of each target
  TensorMap tensors = {};                           ///< fp32, by the parameter names of the model
  TensorMap biases = {};              ///< the same for trained biases of the base (`bias`)
  LabelScheme labels = {};            ///< of the model that it was trained in; no names: unknown
  std::string base_fingerprint = {};  ///< of the frozen parameters during training; empty: unknown
};

/// Reads a folder. Throws `UserError` if it is not an adapter, if tensors do not belong together, if targets name other
/// linears than the tensors, and, naming them, for unsupported PEFT keys.
AdapterFolder read_adapter(const fs::path& folder);

/// The same for the content of the files: adapter_config.json, the tensors of the file `weights`, and base.json or
/// null.
AdapterFolder adapter_of(const Json& config, const TensorMap& tensors, const Json& base,
                         const fs::path& weights);

}  // namespace hone
