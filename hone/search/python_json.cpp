#include "hone/search/python_json.h"

#include <cmath>
#include <limits>

#include "hone/base/error.h"

namespace hone {
namespace {

std::string float_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void write(const Json& value, std::string& text) {
  if (value.is_number_float()) {
    text += float_text(value.get<double>());
  } else if (value.is_array()) {
    text += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) text += ", ";
      write(value[i], text);
    }
    text += ']';
  } else if (value.is_object()) {
    text += '{';
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      if (!first) text += ", ";
      first = false;
      write(Json(key), text);
      text += ": ";
      write(member, text);
    }
    text += '}';
  } else {
    text += value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  }
}

// Stand-ins for numbers that JSON has no literals for: strings that no input can contain, because JSON strings have
// no raw control characters.
struct Literal {
  std::string_view literal;
  std::string_view placeholder;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Literal kLiterals[] = {
    {"NaN", "\\u0001NaN", std::numeric_limits<double>::quiet_NaN()},
    {"-Infinity", "\\u0001-Infinity", -kInfinity},
    {"Infinity", "\\u0001Infinity", kInfinity},
};

std::string with_placeholders(std::string_view text) {
  std::string result;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size()) {
      result += text.substr(i++, 2);
      continue;
    }
    if (c == '"') quoted = !quoted;
    const Literal* found = nullptr;
    if (!quoted)
      for (const Literal& literal : kLiterals)
        if (text.substr(i).starts_with(literal.literal)) found = &literal;
    if (found == nullptr) {
      result += c;
      continue;
    }
    result += fmt::format("\"{}\"", found->placeholder);
    i += found->literal.size() - 1;
  }
  return result;
}

void restore(Json& value) {
  if (value.is_structured()) {
    for (Json& member : value) restore(member);
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (!text.starts_with('\1')) return;
    for (const Literal& literal : kLiterals)
      if (text.substr(1) == literal.literal) {
        value = literal.value;
        return;
      }
  }
}

}  // namespace

std::string to_python_json(const Json& value) {
  std::string text;
  write(value, text);
  return text;
}

Json parse_python_json(std::string_view text, std::string_view where) {
  Json value = parse_json(with_placeholders(text), where);
  restore(value);
  return value;
}

}  // namespace hone
