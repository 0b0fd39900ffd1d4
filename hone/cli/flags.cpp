#include "hone/cli/flags.h"

namespace hone {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

OptionSpellings& spellings_of_process() {
  static OptionSpellings spellings;
  return spellings;
}

// Returns the name that `text` begins with.
std::string_view leading_name(std::string_view text) {
  return text.substr(0, text.find_first_not_of(kLetters));
}

}  // namespace

std::string with_spellings(std::string_view text, const OptionSpellings& spellings) {
  std::string result;
  char before = ' ';
  while (!text.empty()) {
    const bool quoted = text.starts_with('`');
    const bool dashed = text.starts_with("--") && before != '-';
    const std::string_view name = leading_name(text.substr(quoted ? 1 : dashed ? 2 : text.size()));
    const std::string_view behind = text.substr(name.size() + (quoted ? 1 : dashed ? 2 : 0));
    const auto found = name.empty() ? spellings.end() : spellings.find(name);
    const bool whole = quoted ? behind.starts_with('`') : !behind.starts_with('-');
    if (found != spellings.end() && whole) {
      result += found->second;
      text = quoted ? behind.substr(1) : behind;
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
    before = result.back();
  }
  return result;
}

void set_option_spellings(OptionSpellings spellings) {
  spellings_of_process() = std::move(spellings);
}

const OptionSpellings& option_spellings() { return spellings_of_process(); }

}  // namespace hone
