#include "hone/base/printable.h"

#include <fmt/format.h>

namespace hone {

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, the second half of the control characters, are two bytes of UTF-8.
    const bool second_half =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (second_half) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace hone
