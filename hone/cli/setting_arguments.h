#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone {

/// Returns the values of the words NAME=VALUE by name. Throws `UsageError` for other words and for duplicate names.
std::map<std::string, std::string> given_settings(const std::vector<std::string>& words);

}  // namespace hone
