#include "hone/cli/help.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/cli/command.h"
#include "hone/cli/settings.h"
#include "hone/report/text_layout.h"

namespace hone {
namespace {

// Columns from which on there is room for flags and their meaning side by side.
constexpr std::size_t kRoomForTwo = 72;
constexpr std::size_t kRoomForMore = 100;

}  // namespace

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return option->get_name(true, false);
  std::string names;
  for (const std::string& name : option->get_snames()) names += fmt::format("-{}, ", name);
  for (const std::string& name : option->get_lnames()) names += fmt::format("--{}, ", name);
  return names.substr(0, names.size() - 2);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (is_flag(*option) || option->get_positional()) return "";
  const std::string type = option->get_type_name();
  const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size &&
                    option->get_allow_extra_args();
  return fmt::format(" {}{}", type.substr(0, type.find(':')), many ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string value = option->get_default_str();
  if (option->get_required()) return option->get_description() + " (required)";
  // Where 0 or nothing stands for something, the description says for what.
  const bool says_itself = option->get_description().find("by default") != std::string::npos;
  if (value.empty() || value == "[]" || says_itself) return option->get_description();
  return fmt::format("{} (default {})", option->get_description(), value);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  if (columns_ == 0) return Formatter::make_option(option, is_positional);
  const std::string names =
      "  " + make_option_name(option, is_positional) + make_option_opts(option);
  const std::size_t indent = columns_ < kRoomForTwo ? 6 : columns_ < kRoomForMore ? 30 : 42;
  std::string text;
  for (const std::string& line : broken_line(names, columns_)) text += line + "\n";
  const std::vector<std::string> meaning = broken_line(make_option_desc(option), columns_ - indent);
  if (display_width(names) + 2 <= indent) {
    // One line for both.
    text.pop_back();
    text += std::string(indent - display_width(names), ' ') + meaning[0] + "\n";
  } else {
    text += std::string(indent, ' ') + meaning[0] + "\n";
  }
  for (std::size_t i = 1; i < meaning.size(); ++i)
    text += std::string(indent, ' ') + meaning[i] + "\n";
  return text;
}

std::string overview(std::size_t columns) {
  std::string text =
      "hone fine-tunes and quantizes transformers, and measures what that costs\n"
      "Usage: hone COMMAND [arguments]; `hone COMMAND --help` explains one\n";
  const bool narrow = columns > 0 && columns < kRoomForTwo;
  std::size_t width = 0;  // of the names
  for (const Command& command : commands()) width = std::max(width, command.name.size());
  const std::size_t indent = width + (narrow ? 3 : 10);
  for (const CommandGroup& group : command_groups()) {
    std::string_view heading = group.name;
    if (narrow) text += fmt::format("{}\n", heading);
    if (group.brief) {
      std::vector<std::string_view> names;
      for (const Command& command : group.commands) names.push_back(command.name);
      text += fmt::format("{}{}\n", narrow ? "  " : fmt::format("{:<9}", heading),
                          fmt::join(names, ", "));
      continue;
    }
    for (const Command& command : group.commands) {
      std::string start = narrow ? fmt::format("  {:<{}} ", command.name, width)
                                 : fmt::format("{:<9}{:<{}} ", heading, command.name, width);
      for (const std::string& line :
           broken_line(command.summary, columns > indent ? columns - indent : columns)) {
        text += start + line + "\n";
        start = std::string(indent, ' ');
      }
      heading = "";
    }
  }
  return fitted(text, columns);
}

}  // namespace hone
