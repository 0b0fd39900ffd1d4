#pragma once

#include <utility>

#include "hone/base/error.h"

namespace hone {

/// As `user_check`, with a `UsageError`: for settings that exclude one another, and for a value out of the range that other
/// settings leave it. What depends on data, models or files is a `UserError`.
template <typename... Args>
void usage_check(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace hone
