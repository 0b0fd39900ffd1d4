#include "hone/data/written_list.h"

#include <algorithm>
#include <array>

#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/data/raw_labels.h"
#include "hone/text/normalizer.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

using Elements = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kListTypes = {"array", "np.array", "numpy.array", "list",
                                                        "tuple", "set",      "frozenset"};

bool is_letter_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<char> plain_escape(char c) {
  constexpr std::string_view kNames = "\\'\"abfnrtv", kValues = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t place = kNames.find(c);
  return place == std::string_view::npos ? std::nullopt : std::optional(kValues[place]);
}

/// Parses Python output. Each function removes what it reads from the text; it returns nothing on mismatch.
class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : rest_(text) {}

  std::optional<Elements> whole_list() {
    std::optional<Elements> elements = list();
    skip_blanks();
    return rest_.empty() ? elements : std::nullopt;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(rest_.size() - trim_left(rest_).size()); }
  static std::string_view trim_left(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_name() {
    skip_blanks();
    std::size_t end = 0;
    while (end < rest_.size() &&
           (is_letter_of_name(rest_[end]) || (end > 0 && is_digit(rest_[end]))))
      ++end;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  std::optional<Elements> list() {
    if (std::optional<Elements> found = bracketed()) return found;
    const std::string_view name = take_name();
    if (std::ranges::find(kListTypes, name) == kListTypes.end() || !take('(')) return std::nullopt;
    if (take(')')) return Elements();
    std::optional<Elements> inner = bracketed();
    return inner && take_rest_of_call() ? inner : std::nullopt;
  }

  std::optional<Elements> bracketed() {
    if (take('[')) return elements(']');
    if (take('(')) return tuple();
    return take('{') ? set() : std::nullopt;
  }

  // ('a') is a parenthesized string.
  std::optional<Elements> tuple() {
    const std::string_view begin = rest_;
    std::optional<Elements> found = elements(')');
    const std::string_view inside = begin.substr(0, begin.size() - rest_.size());
    if (found && found->size() == 1 && !trim(inside.substr(0, inside.size() - 1)).ends_with(','))
      return std::nullopt;
    return found;
  }

  // {} is a dictionary.
  std::optional<Elements> set() {
    std::optional<Elements> found = elements('}');
    return found && !found->empty() ? found : std::nullopt;
  }

  // Elements are separated by commas, in numpy arrays by blanks.
  std::optional<Elements> elements(char end) {
    Elements found;
    while (!take(end)) {
      std::optional<std::string> one = element();
      if (!one) return std::nullopt;
      found.push_back(std::move(*one));
      const bool apart = rest_.size() != trim_left(rest_).size();
      const bool ends = trim_left(rest_).starts_with(end);
      if (!take(',') && !apart && !ends) return std::nullopt;
    }
    return found;
  }

  std::optional<std::string> element() {
    skip_blanks();
    const bool is_name = !rest_.empty() && is_letter_of_name(rest_.front()) && rest_.front() != '.';
    const bool prefixed = rest_.starts_with("u'") || rest_.starts_with("u\"") ||
                          rest_.starts_with("b'") || rest_.starts_with("b\"");
    return is_name && !prefixed ? named_element() : literal();
  }

  std::optional<std::string> literal() {
    const bool bytes = rest_.starts_with('b');
    if (bytes || rest_.starts_with('u')) rest_.remove_prefix(1);
    return rest_.starts_with('\'') || rest_.starts_with('"') ? string(bytes) : number();
  }

  std::optional<std::string> number() {
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789+-.eE"), rest_.size());
    std::string digits(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (!parse_decimal(digits)) return std::nullopt;
    return digits.ends_with('.') ? digits + "0" : digits;
  }

  // True, np.True_, np.str_('a'), np.float64(0.5)
  std::optional<std::string> named_element() {
    const std::string_view name = take_name();
    for (const std::string_view truth : {"True", "true", "False", "false"})
      if (name == truth || name == fmt::format("np.{}_", truth)) return std::string(truth);
    if (!name.starts_with("np.") && !name.starts_with("numpy.")) return std::nullopt;
    if (!take('(')) return std::nullopt;
    std::optional<std::string> inner = literal();
    return inner && take_rest_of_call() ? inner : std::nullopt;
  }

  // ", dtype='<U5')"
  bool take_rest_of_call() {
    if (take(')')) return true;
    if (!take(',') || take_name().empty() || !take('=')) return false;
    const std::size_t close = rest_.find(')');
    if (close == std::string_view::npos) return false;
    rest_.remove_prefix(close + 1);
    return true;
  }

  std::optional<std::string> string(bool bytes) {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) return is_utf8(text) ? std::optional(text) : std::nullopt;
      if (c != '\\') {
        text += c;
      } else if (!escape(bytes, text)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool escape(bool bytes, std::string& text) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    if (const std::optional<char> plain = plain_escape(c)) {
      rest_.remove_prefix(1);
      text += *plain;
      return true;
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      text += '\\';
      return true;
    }
    const std::string code(rest_.substr(1, digits));
    if (code.size() < digits || code.find_first_not_of("0123456789abcdefABCDEF") != code.npos)
      return false;
    const auto value = static_cast<char32_t>(std::stoul(code, nullptr, 16));
    rest_.remove_prefix(1 + digits);
    if (value > 0x10FFFF) return false;
    if (bytes)
      text += static_cast<char>(value);
    else
      append_utf8(value, text);
    return true;
  }

  std::string_view rest_;
};

std::optional<Elements> json_list(std::string_view text) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return std::nullopt;
  Elements values;
  for (const Json& value : list) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean()) return std::nullopt;
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

}  // namespace

std::optional<std::vector<std::string>> parse_list(std::string_view text) {
  text = trim(text);
  if (text.starts_with('['))
    if (std::optional<Elements> found = json_list(text)) return found;
  const bool closed = text.ends_with(']') || text.ends_with(')') || text.ends_with('}');
  return closed ? PythonReader(text).whole_list() : std::nullopt;
}

bool is_missing_list(std::string_view text) {
  text = trim(text);
  return text.empty() || text == "nan" || text == "NaN" || text == "None";
}

}  // namespace hone
