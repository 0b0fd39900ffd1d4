#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a model says of a text: a class of several, numbers, or any number of labels.
namespace hone {

/// Hugging Face's `problem_type`.
enum class Task {
  single_label,  ///< one class of several: cross-entropy, accuracy
  regression,    ///< numbers: mean squared error, R²
  multi_label    ///< any number of labels, a yes or no of each: binary cross-entropy, micro F1
};

/// "single_label_classification", "regression", "multi_label_classification"
std::string to_string(Task task);
/// All of them.
const std::vector<std::string>& task_names();
/// Throws `UserError` that lists them for an unknown one.
Task parse_task(std::string_view name);

/// All of them.
inline constexpr Task kTasks[] = {Task::single_label, Task::regression, Task::multi_label};

/// The names of `count` outputs that nobody named: "LABEL_0", "LABEL_1", … as Hugging Face has them.
std::vector<std::string> default_labels(std::int64_t count);

/// A task, and the names of what a model says: its classes, its numbers, its labels, in the order of its outputs.
struct LabelScheme {
  Task task = Task::single_label;
  std::vector<std::string> names = {};

  bool operator==(const LabelScheme&) const = default;
};

}  // namespace hone
