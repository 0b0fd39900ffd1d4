#pragma once

#include <string>
#include <vector>

namespace hone {

/// The names that `parse_range_rule` (calibrate.h) takes.
const std::vector<std::string>& range_rule_names();

}  // namespace hone
