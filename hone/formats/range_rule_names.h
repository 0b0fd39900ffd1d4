#pragma once

#include <string>
#include <vector>

namespace hone {

/// The names that `parse_range_rule` (calibrate.h) accepts.
const std::vector<std::string>& range_rule_names();

}  // namespace hone
