#include "hone/formats/format.h"

#include <algorithm>
#include <charconv>
#include <utility>

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

// A suggestion for a misspelled word, or the list of all words if none is near.
std::string meant(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return "; it has no parameters";
  const std::string hint = did_you_mean(word, known);
  return hint.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : hint;
}

std::int64_t parse_word(std::string_view text, const FormatParameterDef& parameter,
                        std::string_view where) {
  const auto found = std::ranges::find(parameter.words, text);
  const std::vector<std::string> words(parameter.words.begin(), parameter.words.end());
  user_check(found != parameter.words.end(), "{}: {}='{}' is not one of {}{}", where,
             parameter.name, text, fmt::join(words, ", "), did_you_mean(text, words));
  return found - parameter.words.begin();
}

std::int64_t parse_number(std::string_view text, const FormatParameterDef& parameter,
                          std::string_view where) {
  if (text == "auto" && parameter.default_value == kAuto) return kAuto;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  user_check(error == std::errc{} && end == text.data() + text.size(),
             "{}: {}='{}' is not a whole number{}", where, parameter.name, text,
             parameter.default_value == kAuto ? " (or auto)" : "");
  user_check(value >= parameter.minimum && value <= parameter.maximum,
             "{}: {}={} is outside {} … {} ({})", where, parameter.name, value, parameter.minimum,
             parameter.maximum, parameter.summary);
  return value;
}

std::int64_t parse_value(std::string_view text, const FormatParameterDef& parameter,
                         std::string_view where) {
  return parameter.words.empty() ? parse_number(text, parameter, where)
                                 : parse_word(text, parameter, where);
}

std::size_t index_of(const Format& format, std::string_view parameter) {
  const auto& parameters = format.def->parameters;
  const auto found = std::ranges::find(parameters, parameter, &FormatParameterDef::name);
  HONE_ASSERT(found != parameters.end(), "format {} has no parameter {}", format.def->name,
              parameter);
  return static_cast<std::size_t>(found - parameters.begin());
}

std::string value_text(const FormatParameterDef& parameter, std::int64_t value) {
  if (!parameter.words.empty())
    return std::string(parameter.words[static_cast<std::size_t>(value)]);
  return value == kAuto ? "auto" : std::to_string(value);
}

}  // namespace

std::int64_t Format::operator[](std::string_view parameter) const {
  return values[index_of(*this, parameter)];
}

std::int64_t& Format::operator[](std::string_view parameter) {
  return values[index_of(*this, parameter)];
}

bool Format::is(std::string_view parameter, std::string_view word) const {
  const std::size_t index = index_of(*this, parameter);
  const auto& words = def->parameters[index].words;
  HONE_ASSERT(std::ranges::find(words, word) != words.end(), "format {}: {} cannot be '{}'",
              def->name, parameter, word);
  return words[static_cast<std::size_t>(values[index])] == word;
}

namespace {

// Handles "int8" as other tools spell it: suggests the format with its number of bits, or "" if the name is not of that
// form.
std::string with_bits(std::string_view name, const FormatTable& formats) {
  const std::size_t letters = name.find_last_not_of("0123456789") + 1;
  const auto found = formats.find(name.substr(0, letters));
  if (letters == name.size() || found == formats.end()) return "";
  for (const FormatParameterDef& parameter : found->second.parameters)
    if (parameter.name == "bits" || parameter.name == "width")
      return fmt::format("; did you mean '{}({}={})'?", found->first, parameter.name,
                         name.substr(letters));
  return "";
}

std::string format_meant(std::string_view name, const FormatTable& formats) {
  const std::string spelled = with_bits(name, formats);
  return spelled.empty() ? meant(name, names_of(formats, [](const auto& row) { return row.first; }))
                         : spelled;
}

}  // namespace

Format parse_format(std::string_view text, const FormatTable& formats) {
  text = trim(text);
  const std::size_t open = text.find('(');
  user_check(open == std::string_view::npos || text.back() == ')',
             "format '{}': expected name(parameter=value,…), the closing parenthesis is missing",
             text);
  const std::string_view name = trim(text.substr(0, open));
  const auto found = formats.find(name);
  user_check(found != formats.end(), "unknown format '{}'{}", name, format_meant(name, formats));
  Format format;
  format.def = &found->second;
  for (const FormatParameterDef& parameter : format.def->parameters)
    format.values.push_back(parameter.default_value);
  if (open != std::string_view::npos) {
    std::vector<bool> given(format.values.size());
    for (const std::string& piece : split(text.substr(open + 1, text.size() - open - 2), ',')) {
      const std::size_t equals = piece.find('=');
      const std::string_view key = trim(std::string_view(piece).substr(0, equals));
      user_check(equals != std::string::npos, "format '{}': expected parameter=value, got '{}'",
                 text, piece);
      const auto& parameters = format.def->parameters;
      const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                          [&](const auto& p) { return p.name == key; });
      user_check(parameter != parameters.end(), "format {} has no parameter '{}'{}", name, key,
                 meant(key, names_of(parameters, [](const auto& p) { return p.name; })));
      const auto at = static_cast<std::size_t>(parameter - parameters.begin());
      user_check(!given[at], "format '{}': {} is given twice", text, key);
      given[at] = true;
      format.values[at] =
          parse_value(trim(std::string_view(piece).substr(equals + 1)), *parameter, text);
    }
  }
  if (format.def->complete != nullptr) with_context(text, [&] { format.def->complete(format); });
  return format;
}

std::string to_string(const Format& format) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < format.values.size(); ++i) {
    const FormatParameterDef& parameter = format.def->parameters[i];
    const bool usual = (parameter.optional || !parameter.words.empty()) &&
                       format.values[i] == parameter.default_value;
    if (usual && !parameter.spelled) continue;
    settings.push_back(
        fmt::format("{}={}", parameter.name, value_text(parameter, format.values[i])));
  }
  if (settings.empty()) return std::string(format.def->name);
  return fmt::format("{}({})", format.def->name, fmt::join(settings, ","));
}

std::string short_text(const Format& format) {
  Format shortest = format;
  const auto completes = [&](Format tried) {
    try {
      if (format.def->complete != nullptr) format.def->complete(tried);
      return tried == format;
    } catch (const UserError&) {
      return false;
    }
  };
  for (std::size_t i = 0; i < format.values.size(); ++i) {
    if (format.def->parameters[i].words.empty()) continue;
    const std::int64_t value =
        std::exchange(shortest.values[i], format.def->parameters[i].default_value);
    if (!completes(shortest)) shortest.values[i] = value;
  }
  return to_string(shortest);
}

std::vector<FormatStateDef> states_of(const Format& format) {
  return format.def->state == nullptr ? std::vector<FormatStateDef>{} : format.def->state(format);
}

GradientRule gradient_rule_of(const Format& format) {
  return format.def->gradient_rule == nullptr ? GradientRule::straight_through
                                              : format.def->gradient_rule(format);
}

Locality locality_of(const Format& format, std::int64_t rank) {
  const std::vector<FormatStateDef> states = states_of(format);
  const bool by_row =
      std::ranges::any_of(states, [](const FormatStateDef& state) { return state.per_row; });
  return format.def->locality == nullptr || by_row ? Locality::tensor
                                                   : format.def->locality(format, rank);
}

Locality independent_elements(const Format& /*format*/, std::int64_t /*rank*/) {
  return Locality::element;
}

double average_bits(const Format& format, const Sizes& sizes) {
  const CodeLayout layout = format.def->layout(format, sizes);
  const auto elements = static_cast<double>(element_count(sizes));
  double shared =
      static_cast<double>(layout.shared_bits) * static_cast<double>(layout.shared_count);
  for (const FormatStateDef& state : states_of(format)) {
    const std::int64_t groups = state.per_row ? rows_of(sizes).count : 1;
    shared += 32.0 * static_cast<double>(groups * element_count(state.sizes));
  }
  return layout.element_bits + (elements == 0 ? 0 : shared / elements);
}

Rows rows_of(const Sizes& sizes) {
  if (sizes.empty()) return {1, 1};
  const std::int64_t columns = sizes.back();
  return {columns == 0 ? 0 : element_count(sizes) / columns, columns};
}

std::optional<CodeUnits> units_of(const QuantizerInput& input) {
  const Format& format = input.format;
  if (format.def->units != nullptr) return format.def->units(input);
  const CodeLayout layout = format.def->layout(format, input.sizes);
  if (layout.element_bits > kMostUnitBits) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(input.sizes.size());
  if (locality_of(format, rank) != Locality::element || layout.shared_count > 0)
    return std::nullopt;
  Codes codes;
  for (std::uint32_t code = 0; code < 1u << layout.element_bits; ++code)
    codes.elements.push_back(code);
  CodeUnits units{std::vector<float>(codes.elements.size()), 0, {1}};
  const Sizes sizes = {static_cast<std::int64_t>(codes.elements.size())};
  format.def->decode({format, sizes, {}, input.state}, codes, units.units);
  return units;
}

}  // namespace hone
