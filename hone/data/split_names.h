#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Names of files and folders that say which split they hold, as Hugging Face `datasets` reads them.
namespace hone {

enum class SplitRole : std::uint8_t { train, validation, test };

/// "train", "validation" or "test".
std::string to_string(SplitRole role);

/// The splits that `name` names by a keyword, in any case: train, training; validation, valid, val, dev; test, testing,
/// eval, evaluation. A keyword begins and ends with the name, or beside one of `-._ ` or a digit: "imdb_train",
/// "test-00000-of-00002.parquet", "dev set.csv".
std::vector<SplitRole> roles_in(std::string_view name);

}  // namespace hone
