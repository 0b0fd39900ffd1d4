#include "hone/formats/format.h"

#include <algorithm>
#include <charconv>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

template <typename Items, typename Name>
std::vector<std::string> names_of(const Items& items, Name&& name) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(name(item));
  return names;
}

std::int64_t parse_value(std::string_view text, const FormatParameterDef& parameter,
                         std::string_view where) {
  if (text == "auto" && parameter.default_value == kAuto) return kAuto;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  user_check(error == std::errc{} && end == text.data() + text.size(),
             "{}: {}='{}' is no whole number{}", where, parameter.name, text,
             parameter.default_value == kAuto ? " (or auto)" : "");
  user_check(value >= parameter.minimum && value <= parameter.maximum,
             "{}: {}={} is outside {} … {} ({})", where, parameter.name, value, parameter.minimum,
             parameter.maximum, parameter.summary);
  return value;
}

}  // namespace

std::int64_t Format::operator[](std::string_view parameter) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (def->parameters[i].name == parameter) return values[i];
  }
  HONE_ASSERT(false, "format {} has no parameter {}", def->name, parameter);
}

void Observation::include(std::span<const float> values) {
  for (const float value : values) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }
}

Format parse_format(std::string_view text, const FormatTable& formats) {
  text = trim(text);
  const std::size_t open = text.find('(');
  user_check(open == std::string_view::npos || text.back() == ')',
             "format '{}': expected name(parameter=value,…), the closing parenthesis is missing",
             text);
  const std::string_view name = trim(text.substr(0, open));
  const auto found = formats.find(name);
  user_check(found != formats.end(), "unknown format '{}'{}", name,
             did_you_mean(name, names_of(formats, [](const auto& row) { return row.first; })));
  Format format;
  format.def = &found->second;
  for (const FormatParameterDef& parameter : format.def->parameters)
    format.values.push_back(parameter.default_value);
  if (open != std::string_view::npos) {
    for (const std::string& piece : split(text.substr(open + 1, text.size() - open - 2), ',')) {
      const std::size_t equals = piece.find('=');
      const std::string_view key = trim(std::string_view(piece).substr(0, equals));
      user_check(equals != std::string::npos, "format '{}': expected parameter=value, got '{}'",
                 text, piece);
      const auto& parameters = format.def->parameters;
      const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                          [&](const auto& p) { return p.name == key; });
      user_check(parameter != parameters.end(), "format {} has no parameter '{}'{}", name, key,
                 did_you_mean(key, names_of(parameters, [](const auto& p) { return p.name; })));
      format.values[static_cast<std::size_t>(parameter - parameters.begin())] =
          parse_value(trim(std::string_view(piece).substr(equals + 1)), *parameter, text);
    }
  }
  if (format.def->check != nullptr) format.def->check(format);
  return format;
}

std::string to_string(const Format& format) {
  std::string text(format.def->name);
  for (std::size_t i = 0; i < format.values.size(); ++i) {
    const std::string value = format.values[i] == kAuto ? "auto" : std::to_string(format.values[i]);
    text += fmt::format("{}{}={}", i == 0 ? "(" : ",", format.def->parameters[i].name, value);
  }
  return format.values.empty() ? text : text + ")";
}

}  // namespace hone
