#include "hone/metrics/task.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = {"single_label_classification", "regression",
                                                 "multi_label_classification"};
  return names;
}

std::string to_string(Task task) { return task_names()[static_cast<std::size_t>(task)]; }

Task parse_task(std::string_view name) {
  const std::vector<std::string>& names = task_names();
  const auto found = std::ranges::find(names, name);
  user_check(found != names.end(), "expected {}, got '{}'{}", fmt::join(names, ", "), name,
             did_you_mean(name, names));
  return static_cast<Task>(found - names.begin());
}

std::vector<std::string> default_labels(std::int64_t count) {
  std::vector<std::string> labels;
  for (std::int64_t id = 0; id < count; ++id) labels.push_back(fmt::format("LABEL_{}", id));
  return labels;
}

}  // namespace hone
