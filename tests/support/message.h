#pragma once

#include <algorithm>
#include <string>

#include "hone/base/error.h"

namespace hone::testing {

/// The message of the `UserError` that `body` throws. "no error" without one; other errors pass.
template <typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

/// The message of the `InternalError` that `body` throws, without file, line and condition.
template <typename Body>
std::string assertion_of(Body&& body) {
  try {
    body();
  } catch (const InternalError& error) {
    const std::string text = error.what();
    const std::size_t file = std::min(text.find(".cpp:"), text.find(".h:"));
    const std::size_t begin = text.find(": ", file) + 2;
    return text.substr(begin, text.rfind(" (") - begin);
  }
  return "no error";
}

}  // namespace hone::testing
