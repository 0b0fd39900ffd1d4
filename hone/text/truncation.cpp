#include "hone/text/truncation.h"

#include "hone/base/error.h"
#include "hone/base/printable.h"

namespace hone {

std::span<const EnumName> enum_names(Truncation) {
  static constexpr EnumName words[] = {{0, "head"}, {1, "tail"}, {2, "head_tail"}};
  return words;
}

std::string to_string(Truncation truncation) { return std::string(enum_name(truncation)); }

Truncation parse_truncation(std::string_view name) {
  for (const Truncation each : {Truncation::head, Truncation::tail, Truncation::head_tail})
    if (name == to_string(each)) return each;
  fail("expected head, tail or head_tail, got '{}'", shown_name(name));
}

std::string_view kept_tokens_text(Truncation truncation) {
  return truncation == Truncation::head ? ""
         : truncation == Truncation::tail
             ? " (the last ones)"
             : " (a quarter from the beginning, the rest from the end)";
}

std::size_t head_token_count(Truncation truncation, std::size_t count) {
  return truncation == Truncation::head ? count : truncation == Truncation::tail ? 0 : count / 4;
}

}  // namespace hone
