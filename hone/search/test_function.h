#pragma once

#include <string_view>

#include "hone/search/space.h"

namespace hone {

/// A function of known shape for testing samplers; lower is better. "cont" has four floats, "mixed" nine parameters
/// of all kinds.
struct TestFunction {
  std::string_view name;
  SearchSpace space;
  double (*value)(const Assignment& point);
};

const std::vector<TestFunction>& test_functions();
/// Throws `UserError` for an unknown name, and lists the known ones.
const TestFunction& find_test_function(std::string_view name);

}  // namespace hone
