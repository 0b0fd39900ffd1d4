#include "hone/cli/settings.h"

#include <charconv>

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

Json value_of(const CLI::Option& option) {
  if (is_flag(option)) return option.count() > 0;
  if (option.get_expected_max() == 1)
    return value_of(option.count() == 0 ? option.get_default_str() : option.results().front());
  Json values = Json::array();
  for (const std::string& value : option.results()) values.push_back(value_of(value));
  return values;
}

// A word as a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

std::string argument_name(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  return names.empty() ? option.get_name() : names.front();
}

Json settings_of(const CLI::App& app) {
  Json settings = Json::object();
  for (const CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    settings[argument_name(*option)] = value_of(*option);
  }
  return settings;
}

std::string command_line(const CLI::App& app) {
  std::string line = app.get_name(), flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    if (option->get_positional()) {
      for (const std::string& value : option->results()) line += " " + quoted(value);
    } else if (is_flag(*option)) {
      flags += " --" + argument_name(*option);
    } else {
      for (const std::string& value : option->results())
        flags += fmt::format(" --{} {}", argument_name(*option), quoted(value));
    }
  }
  return line + flags;
}

Invocation invocation_of(const CLI::App& app) { return {command_line(app), settings_of(app)}; }

Json result_settings(Json settings) {
  for (const char* key :
       {"MODEL", "data", "output_dir", "overwrite_output_dir", "resume", "save_steps",
        "save_total_limit", "report_to", "threads", "json", "quiet"})
    settings.erase(key);
  return settings;
}

}  // namespace hone
