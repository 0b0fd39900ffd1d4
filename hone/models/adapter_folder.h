#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "hone/base/json.h"
#include "hone/metrics/task.h"
#include "hone/passes/lora.h"
#include "hone/tensor/safetensors.h"

/// Folders of adapters as PEFT writes them: adapter_config.json and adapter_model.safetensors, or adapter_model.bin of older
/// versions. base.json beside them is hone's and says what they were trained on.
namespace hone {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterWeights = "adapter_model.safetensors";
inline constexpr const char* kAdapterBase = "base.json";
/// In front of the names that a model has.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";

/// Rank and scale of the adapter of a linear.
struct LoraNumbers {
  std::int64_t rank = 0;
  double alpha = 0;

  auto operator<=>(const LoraNumbers&) const = default;
};

/// What the folder of an adapter holds.
struct AdapterFolder {
  fs::path path;
  fs::path weights;     ///< the file of its tensors
  LoraOptions options;  ///< its targets and modules to save are those that have tensors
  std::map<std::string, LoraNumbers> numbers = {};  ///< of each target
  TensorMap tensors = {};   ///< fp32, by the names that the parameters have in a model
  TensorMap biases = {};    ///< the same of biases of the base that were trained, too (`bias`)
  LabelScheme labels = {};  ///< of the model that it was trained in; no names: not known
  std::string base_fingerprint =
      {};  ///< of the parameters that it was trained beside; empty: not known
};

/// Reads a folder. Throws `UserError` for one that is no adapter, for tensors that do not belong together, for targets that
/// name other linears than the tensors, and, by their names, for keys of PEFT that are not supported.
AdapterFolder read_adapter(const fs::path& folder);

/// The same of what its files hold: adapter_config.json, the tensors of the file `weights`, and base.json, null where there
/// is none.
AdapterFolder adapter_of(const Json& config, const TensorMap& tensors, const Json& base,
                         const fs::path& weights);

}  // namespace hone
