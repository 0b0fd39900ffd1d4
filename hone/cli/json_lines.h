#pragma once

#include <fstream>
#include <vector>

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
    lines_.push_back(line);
  }
  /// All that was written.
  const std::vector<Json>& lines() const { return lines_; }

 private:
  fs::path path_;
  std::ofstream file_;
  std::vector<Json> lines_;
};

}  // namespace hone
