#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Tasks: a model predicts one of several classes, numbers, or any number of labels.
namespace hone {

/// Hugging Face's `problem_type`.
enum class Task {
  single_label,  ///< one class of several: cross-entropy, accuracy
  regression,    ///< numbers: mean squared error, R²
  multi_label    ///< any number of labels, a yes or no for each: binary cross-entropy, micro F1
};

/// Returns "single_label_classification", "regression" or "multi_label_classification".
std::string to_string(Task task);
const std::vector<std::string>& task_names();
/// Returns the task of this name. Throws `UserError`, which lists the names, for an unknown one.
Task parse_task(std::string_view name);

inline constexpr Task kTasks[] = {Task::single_label, Task::regression, Task::multi_label};

/// Returns the names of `count` unnamed outputs, as in Hugging Face: "LABEL_0", "LABEL_1", …
std::vector<std::string> default_labels(std::int64_t count);

/// A task, and the names of a model's classes, numbers or labels, in the order of its outputs.
struct LabelScheme {
  Task task = Task::single_label;
  std::vector<std::string> names = {};

  bool operator==(const LabelScheme&) const = default;
};

}  // namespace hone
