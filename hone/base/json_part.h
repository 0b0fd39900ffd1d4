#pragma once

#include "hone/base/json.h"

/// JSON that is a part of a file, with errors that say where in the file they are.
namespace hone {

/// A place in a text, both from 1; columns count characters.
struct TextPosition {
  std::int64_t line = 1, column = 1;
};

/// The place behind a byte of UTF-8, and behind a text, that stands at `at`.
inline TextPosition behind(char byte, TextPosition at) {
  if (byte == '\n') return {at.line + 1, 1};
  const bool continues = (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
  return {at.line, at.column + (continues ? 0 : 1)};
}
TextPosition behind(std::string_view text, TextPosition at);

/// `parse_json` of a part that begins at `begin` in its file. Messages open with the line, for callers who put the file
/// in front.
Json parse_json_part(std::string_view part, TextPosition begin);

}  // namespace hone
