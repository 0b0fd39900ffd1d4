#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Split names in file and folder names, as Hugging Face `datasets` reads them.
namespace hone {

enum class SplitRole : std::uint8_t { train, validation, test };

/// Returns "train", "validation" or "test".
std::string to_string(SplitRole role);

/// Returns the splits whose keywords occur in `name`, in any case: train, training; validation, valid, val, dev; test,
/// testing, eval, evaluation. A keyword is bounded by the ends of the name, one of `-._ ` or a digit: "imdb_train",
/// "test-00000-of-00002.parquet", "dev set.csv".
std::vector<SplitRole> roles_in(std::string_view name);

}  // namespace hone
