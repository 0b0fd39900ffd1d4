#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/interpreter.h"
#include "tests/support/evaluate.h"
#include "tests/support/test_data.h"

/// Loads the golden checkpoints of tests/frontends/golden (see tests/README.md) as models and inputs.
namespace hone::testing {

inline const fs::path kGoldenModels = test_data() / "frontends" / "golden";

/// Returns the folders that contain a model and transformers' results for it, sorted.
inline std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  for (const auto& folder : fs::directory_iterator(kGoldenModels)) {
    const bool model = fs::exists(folder.path() / "config.json");
    if (model && fs::exists(folder.path() / "expected.json"))
      names.push_back(folder.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the warning of a golden model with a randomly initialized head: the tensors that its file lacks.
inline std::string initialised_warning(const std::string& golden, std::string_view names,
                                       const char* file = "model.safetensors") {
  return fmt::format("{}: missing, initialized at random: {}; train the model before use",
                     (kGoldenModels / golden / file).string(), names);
}

/// Returns the fast kernels and the references. Numeric tests must pass with both.
inline const std::vector<std::pair<std::string, const Library*>>& libraries() {
  static const Library library = builtin_library();
  static const std::vector<std::pair<std::string, const Library*>> rows = {
      {"kernels", &library}, {"references", &references()}};
  return rows;
}

/// Returns the numbers of nested JSON arrays, row by row.
template <typename T>
std::vector<T> flat_numbers(const Json& json) {
  if (!json.is_array()) return {json.get<T>()};
  std::vector<T> numbers;
  for (const Json& item : json) {
    const std::vector<T> some = flat_numbers<T>(item);
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  return numbers;
}

/// Returns the inputs of one of the `inputs` of expected.json: those it contains of input_ids, attention_mask,
/// token_type_ids i64[B, S] and labels i64[B], or f32[B, labels] for other tasks.
inline NamedTensors golden_inputs(const Json& batch) {
  NamedTensors inputs;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids", "labels"}) {
    if (!batch.contains(name)) continue;
    const Json& rows = batch[name];
    Sizes sizes = {static_cast<std::int64_t>(rows.size())};
    if (rows[0].is_array()) sizes.push_back(static_cast<std::int64_t>(rows[0].size()));
    const bool numbers = name == std::string_view("labels") && rows[0].is_array();
    inputs.emplace(name, numbers ? Tensor::of(sizes, flat_numbers<float>(rows))
                                 : Tensor::of(sizes, flat_numbers<std::int64_t>(rows)));
  }
  return inputs;
}

/// Returns the graph inputs of the batch for a model of this task.
inline GraphInputs graph_inputs(const NamedTensors& inputs, Task task = Task::single_label) {
  return {.attention_mask = inputs.contains("attention_mask"),
          .token_type_ids = inputs.contains("token_type_ids"),
          .labels = inputs.contains("labels") ? std::optional(task) : std::nullopt};
}

}  // namespace hone::testing
