#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "hone/base/file.h"

namespace hone {

/// A folder of the running test, empty at first and deleted at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::path(::testing::TempDir()) /
            (std::string("hone_") + test->test_suite_name() + "_" + test->name());
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// Writes a file, with the folders above it, and returns its path.
  fs::path write(const fs::path& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    write_file(path_ / name, text);
    return path_ / name;
  }

 private:
  fs::path path_;
};

}  // namespace hone
