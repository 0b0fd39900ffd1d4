#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <string_view>

#include "hone/base/error.h"
#include "hone/base/file.h"

/// Helpers of the tests in several folders.
namespace hone {

/// Returns the message of the `UserError` that `body` throws. If it throws none, fails the test and returns "".
template <typename Body>
std::string user_error_of(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "expected a UserError, got: " << error.what();
    return "";
  }
  ADD_FAILURE() << "expected a UserError, nothing was thrown";
  return "";
}

/// Expects `body` to throw a `UserError` whose message contains `fragment`.
template <typename Body>
void expect_user_error(std::string_view fragment, Body&& body) {
  const std::string message = user_error_of(body);
  EXPECT_NE(message.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in: " << message;
}

/// A new folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "hone_test.XXXXXX").string();
    HONE_ASSERT(::mkdtemp(pattern.data()) != nullptr, "no temporary folder {}", pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// Writes a file and its parent folders, and returns its path.
  fs::path file(std::string_view name, std::string_view bytes) const {
    // write_file and overwriting wait for the disk, and some tests write thousands of files.
    fs::create_directories((path_ / name).parent_path());
    fs::remove(path_ / name);
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  fs::path path_;
};

}  // namespace hone
