#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

/// Errors of two kinds: those that the user can fix (`UserError`) and bugs of the program (`InternalError`).
///
/// A message says where the problem is, what was expected, what was found, and what to do:
///
///     user_check(k == w.size(1), "linear: x has {} columns, the weight takes {}; check config.json", k, n);
///
/// Callers add context while an error passes through them:
///
///     with_context(fmt::format("while reading {}", path), [&] { return parse(text); });
namespace hone {

/// Base class of all errors. `what()` is the full message, outermost context first.
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  /// Puts "context: " in front of the message.
  void add_context(std::string_view context) {
    message_ = fmt::format("{}: {}", context, message_);
  }

 private:
  std::string message_;
};

/// Invalid input: a file, a value, a combination. The program ends with exit code 1.
class UserError : public Error {
  using Error::Error;
};

/// Invalid command line: an unknown flag, a missing argument. The program ends with exit code 2.
class UsageError : public UserError {
  using UserError::UserError;
};

/// A broken invariant. The program asks for a bug report and ends with exit code 70.
class InternalError : public Error {
  using Error::Error;
};

/// Throws a `UserError` with the formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> message, Args&&... args) {
  throw UserError(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws a `UserError` with the formatted message unless `condition` holds.
template <typename... Args>
void user_check(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw UserError(fmt::format(message, std::forward<Args>(args)...));
}

/// Runs `body`; adds `context` in front of the message of an `Error` that leaves it.
template <typename Body>
auto with_context(std::string_view context, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (Error& error) {
    error.add_context(context);
    throw;
  }
}

namespace detail {
[[noreturn]] void assertion_failed(const char* file, int line, const char* condition,
                                   const std::string& message);
}  // namespace detail

}  // namespace hone

/// Throws an `InternalError` with file, line and the formatted message unless `condition` holds.
#define HONE_ASSERT(condition, ...)                                                               \
  do {                                                                                            \
    if (!(condition))                                                                             \
      ::hone::detail::assertion_failed(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
  } while (false)
