#pragma once

#include <algorithm>
#include <string>

#include "hone/base/error.h"

namespace hone::testing {

/// Returns the message of the `UserError` that `body` throws, or "no error". Other errors are not caught.
template <typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

/// Returns the message of the `InternalError` that `body` throws, without file, line and condition, or "no error".
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
