#include "hone/text/text_encoding.h"

#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/text/utf8.h"

namespace hone::fuzz {

void text_encoding(std::string_view bytes) {
  for (const char* encoding :
       {"utf-8", "utf-16", "utf-32", "latin-1", "windows-1252", "shift_jis", "gb18030"}) {
    std::int64_t replaced = 0;
    const std::string text = to_utf8(bytes, encoding, replaced);
    HONE_ASSERT(is_utf8(text), "{} became no UTF-8", encoding);
    HONE_ASSERT(replaced <= static_cast<std::int64_t>(bytes.size()), "more was replaced than is");
  }
}

}  // namespace hone::fuzz
