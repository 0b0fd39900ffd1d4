#include "hone/report/inline_code.h"

namespace hone {

std::vector<InlinePart> inline_parts(std::string_view text) {
  std::vector<InlinePart> parts;
  std::size_t begin = 0;  // of the text that is in no part yet
  const auto add_text = [&](std::size_t end) {
    if (end > begin) parts.push_back({text.substr(begin, end - begin)});
  };
  for (std::size_t open = text.find('`'); open != std::string_view::npos;) {
    const std::size_t end = text.find_first_of("`\n", open + 1);
    if (end == std::string_view::npos) break;
    if (text[end] == '\n' || end == open + 1) {
      open = text.find('`', end + 1);
      continue;
    }
    add_text(open);
    parts.push_back({text.substr(open + 1, end - open - 1), /*is_code=*/true});
    begin = end + 1;
    open = text.find('`', begin);
  }
  add_text(text.size());
  return parts;
}

}  // namespace hone
