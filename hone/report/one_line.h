#pragma once

#include <string>
#include <utility>

namespace hone {

/// Replaces control characters (line ends, tabs) by spaces, so that the text cannot break lines or columns.
inline std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace hone
