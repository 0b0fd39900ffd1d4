#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"

/// The JSON result of `hone cache`.
namespace hone {

struct StoredStage {
  std::string key, stage, command_line;
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  std::optional<double> seconds = {};
  std::string used;
};
const Fields& fields_of(const StoredStage*);

struct CacheFields {
  fs::path folder;
  std::uintmax_t limit_bytes = 0, bytes = 0;
  std::size_t removed_entries = 0;
  std::uintmax_t removed_bytes = 0;
  std::vector<std::string> kept = {};
  std::size_t trials = 0;
  std::uintmax_t trial_bytes = 0;
  std::vector<StoredStage> entries = {};
};
const Fields& fields_of(const CacheFields*);

}  // namespace hone
