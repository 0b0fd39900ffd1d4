#pragma once

#include <utility>

#include "hone/base/error.h"

namespace hone {

/// Like `user_check`, but throws `UsageError`: for settings that exclude one another, and for values out of the range
/// that other settings allow. Errors that depend on data, models or files are `UserError`s.
template <typename... Args>
void usage_check(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace hone
