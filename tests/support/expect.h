#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <string_view>

#include "hone/base/error.h"
#include "hone/base/file.h"

/// What tests of several folders share.
namespace hone {

/// The message of the `UserError` that `body` throws; "" and a failed test when it throws none.
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

/// Expects that `body` throws a `UserError` whose message holds `fragment`.
template <typename Body>
void expect_user_error(std::string_view fragment, Body&& body) {
  const std::string message = user_error_of(body);
  EXPECT_NE(message.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in: " << message;
}

/// A fresh folder that goes with the object.
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
  /// The path of a new file in it with these bytes, and with the folders above it.
  fs::path file(std::string_view name, std::string_view bytes) const {
    // Not write_file, and not over an old file: both wait for the disk, and some tests write
    // thousands of files.
    fs::create_directories((path_ / name).parent_path());
    fs::remove(path_ / name);
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  fs::path path_;
};

}  // namespace hone
