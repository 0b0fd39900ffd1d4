#pragma once

#include <string_view>

#include "hone/base/json.h"
#include "tests/support/test_data.h"

namespace hone::testing {

/// Returns the cases of a task in `golden/task_metrics.json`; see tools/golden/task_metrics.py.
inline const Json& golden_cases(std::string_view task) {
  static const Json file = read_json(test_data() / "metrics" / "golden" / "task_metrics.json");
  return file.at(std::string(task));
}

}  // namespace hone::testing
