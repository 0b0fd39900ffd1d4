#pragma once

#include "hone/base/json.h"
#include "hone/text/tokenizer_parse.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

/// The files of tools/golden/byte_pairs.py.
namespace hone {

inline fs::path byte_golden_folder() { return test_data() / "text/golden/byte_pair"; }

inline const Json& byte_golden() {
  static const Json file = read_json(test_data() / "text/golden/byte_pairs.json");
  return file;
}

/// Loads tokenizer.json with changes, given as JSON pointers and new values.
inline Tokenizer changed_tokenizer(const Json& changes) {
  Json file = read_json(byte_golden_folder() / "tokenizer.json");
  for (const auto& [pointer, value] : changes.items()) file[Json::json_pointer(pointer)] = value;
  return parse_tokenizer({.json = to_document(file)});
}

/// Writes only vocab.json and merges.txt.
inline void write_byte_files(const TemporaryFolder& folder) {
  for (const char* name : {"vocab.json", "merges.txt"})
    folder.file(name, read_file(byte_golden_folder() / name));
}

}  // namespace hone
