#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hone/base/error.h"

namespace hone {

/// Expects that `action` throws a `UserError` whose message contains `part`.
template <typename Action>
void expect_user_error(Action&& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "expected an error with: " << part;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace hone
