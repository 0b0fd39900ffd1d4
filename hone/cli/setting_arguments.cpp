#include "hone/cli/setting_arguments.h"

#include <fmt/format.h>

#include "hone/base/error.h"

namespace hone {

std::map<std::string, std::string> given_settings(const std::vector<std::string>& words) {
  std::map<std::string, std::string> settings;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--set {}: expected NAME=VALUE", word));
    if (!settings.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      throw UsageError(
          fmt::format("--set: {} is given twice; give it once", word.substr(0, equals)));
  }
  return settings;
}

}  // namespace hone
