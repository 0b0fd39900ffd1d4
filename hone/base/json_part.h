#pragma once

#include "hone/base/json.h"

/// Parses JSON that is part of a file, with the position in the file in errors.
namespace hone {

/// A position in a text, both from 1; columns count characters.
struct TextPosition {
  std::int64_t line = 1, column = 1;
};

/// Return the position after a byte of UTF-8, or after a text, at position `at`.
inline TextPosition position_after(char byte, TextPosition at) {
  if (byte == '\n') return {at.line + 1, 1};
  const bool continues = (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
  return {at.line, at.column + (continues ? 0 : 1)};
}
TextPosition position_after(std::string_view text, TextPosition at);

/// Parses a part that begins at `begin` in its file, as `parse_json` does. Messages begin with the line; callers add
/// the file.
Json parse_json_part(std::string_view part, TextPosition begin);

}  // namespace hone
