#include "hone/report/html_text.h"

#include <utf8proc.h>

namespace hone {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void add(std::string& html, utf8proc_int32_t code, std::string_view bytes) {
  switch (code) {
    case '&':
      html += "&amp;";
      return;
    case '<':
      html += "&lt;";
      return;
    case '>':
      html += "&gt;";
      return;
    case '"':
      html += "&quot;";
      return;
    case '\'':
      html += "&#39;";
      return;
    case '\t':
    case '\n':
      break;
    default:
      if (code < 0x20 || (code >= 0x7F && code < 0xA0)) bytes = kReplacement;
  }
  html += bytes;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t read =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &code);
    const std::size_t size = read > 0 ? static_cast<std::size_t>(read) : 1;
    if (read > 0) {
      add(html, code, text.substr(0, size));
    } else {
      html += kReplacement;
    }
    text.remove_prefix(size);
  }
  return html;
}

}  // namespace hone
