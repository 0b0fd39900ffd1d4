#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone {

/// Of words NAME=VALUE, the values by their names. Throws `UsageError` for another word, and for a name that is given twice.
std::map<std::string, std::string> given_settings(const std::vector<std::string>& words);

}  // namespace hone
