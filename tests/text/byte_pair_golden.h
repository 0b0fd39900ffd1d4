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

/// tokenizer.json with the changes: JSON pointers and what is written there.
inline Tokenizer changed_tokenizer(const Json& changes) {
  Json file = read_json(byte_golden_folder() / "tokenizer.json");
  for (const auto& [pointer, value] : changes.items()) file[Json::json_pointer(pointer)] = value;
  return parse_tokenizer({.json = to_document(file)});
}

/// Writes vocab.json and merges.txt alone.
inline void write_byte_files(const TemporaryFolder& folder) {
  for (const char* name : {"vocab.json", "merges.txt"})
    folder.file(name, read_file(byte_golden_folder() / name));
}

}  // namespace hone
