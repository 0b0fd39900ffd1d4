#include "hone/cli/settings.h"

#include <charconv>

#include "hone/base/text.h"
#include "hone/cli/command_line.h"

namespace hone {
namespace {

Json value_of(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return text;
  std::int64_t whole = 0;
  const auto integer = std::from_chars(text.data(), end, whole);
  return integer.ec == std::errc() && integer.ptr == end ? Json(whole) : Json(number);
}

Json default_of(const CLI::Option& option) {
  if (is_flag(option)) return false;
  return option.get_expected_max() == 1 ? value_of(option.get_default_str()) : Json::array();
}

Json value_of(const CLI::Option& option) {
  if (option.count() == 0) return default_of(option);
  if (is_flag(option)) return true;
  if (option.get_expected_max() == 1) return value_of(option.results().front());
  Json values = Json::array();
  for (const std::string& value : option.results()) values.push_back(value_of(value));
  return values;
}

Json values_of(const CLI::App& app, Json (*value)(const CLI::Option&)) {
  Json values = Json::object();
  for (const CLI::Option* option : app.get_options())
    if (!is_help(app, *option)) values[argument_name(*option)] = value(*option);
  return values;
}

}  // namespace

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

bool is_help(const CLI::App& app, const CLI::Option& option) {
  return &option == app.get_help_ptr() || &option == app.get_help_all_ptr();
}

std::string argument_name(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  return names.empty() ? option.get_name() : names.front();
}

Json settings_of(const CLI::App& app) { return values_of(app, value_of); }

std::string command_name(const CLI::App& app) { return split(app.get_name(), ' ').at(1); }

std::string command_line(const CLI::App& app) { return command_line(app, {}, option_spellings()); }

std::vector<std::string> given_arguments(
    const CLI::App& app, const std::function<bool(const std::string& name)>& keeps) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = argument_name(*option);
    if (option->count() == 0 || !keeps(name)) continue;
    if (is_flag(*option)) words.push_back("--" + name);
    for (const std::string& value : option->results())
      if (!is_flag(*option))
        words.push_back(option->get_positional() ? value : fmt::format("--{}={}", name, value));
  }
  return words;
}

Invocation invocation_of(const CLI::App& app) {
  // Repeating a resumed job means running it without --resume.
  const auto command_with = [&app](std::map<std::string, std::string> instead) {
    instead.emplace("resume", "");
    return command_line(app, instead, option_spellings());
  };
  Invocation invocation{command_name(app), command_with({}), settings_of(app),
                        values_of(app, default_of)};
  invocation.command_with = command_with;
  return invocation;
}

}  // namespace hone
