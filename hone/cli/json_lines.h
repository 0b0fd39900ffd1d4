#pragma once

#include <fstream>

#include "hone/base/error.h"
#include "hone/base/json.h"

namespace hone {

/// A file of one JSON object per line that can be followed while it grows.
class JsonLines {
 public:
  explicit JsonLines(const fs::path& path) : path_(path), file_(path) {}
  void write(const Json& line) {
    file_ << to_line(line) << std::endl;
    user_check(file_.good(), "{}: cannot write; is the disk full?", path_.string());
  }

 private:
  fs::path path_;
  std::ofstream file_;
};

}  // namespace hone
