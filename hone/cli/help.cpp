#include "hone/cli/help.h"

#include <algorithm>

#include "hone/base/terminal.h"
#include "hone/cli/command.h"
#include "hone/cli/settings.h"
#include "hone/report/text_layout.h"

namespace hone {
namespace {

// The smallest width with room for flags and their meaning side by side.
constexpr std::size_t kRoomForTwo = 60;

// Returns the names that people type: "-o, --lr" for "-o,--learning_rate,--lr".
std::string short_names(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += fmt::format("-{}, ", name);
  return names + "--" + option.get_lnames().back();
}

// Returns "-o" or "--data".
std::string shortest_name(const CLI::Option& option) {
  return option.get_snames().empty() ? "--" + option.get_lnames().back()
                                     : "-" + option.get_snames().front();
}

}  // namespace

bool is_listed_under(const OptionDef& row, const EnumName& heading) {
  return !row.is_positional && row.heading && static_cast<int>(*row.heading) == heading.value;
}

std::size_t help_columns() {
  const std::size_t columns = terminal_columns(stdout);
  return columns == 0 ? 80 : std::clamp<std::size_t>(columns, 40, 100);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode mode) const {
  const auto& command = dynamic_cast<const CommandApp&>(*app);
  std::string head = fmt::format("{}.\n\n", app->get_description());
  if (const std::string_view details = command.command().details; !details.empty())
    head += fmt::format("{}\n\n", details);
  head += fmt::format("Usage: {}\n\nExample:\n  {}\n", usage(command), app->get_footer());
  return wrapped_text(head, columns_) + positionals(*app) + subcommands(command.command()) +
         groups(command, mode == CLI::AppFormatMode::All) +
         (command.command().help_on == nullptr ? "" : command.command().help_on(command));
}

std::string HelpFormatter::usage(const CommandApp& app) const {
  std::string text = app.get_name(), required;
  if (app.command().needs_subcommand()) text += fmt::format(" {}", kSubcommand);
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_positional())
      text += " " + make_option_usage(option);
    else if (option->get_required())
      required += fmt::format(" {}{}", shortest_name(*option), make_option_opts(option));
  }
  return text + required + " [OPTIONS]";
}

std::string HelpFormatter::positionals(const CLI::App& app) const {
  std::string text;
  for (const CLI::Option* option : app.get_options({}))
    if (option->get_positional())
      text += row(option->get_name(true, false), make_option_desc(option));
  return text.empty() ? text : "\nArguments:\n" + text;
}

std::string HelpFormatter::subcommands(const Command& command) const {
  std::string text;
  for (const Command& one : command.subcommands)
    text += row(fmt::format("hone {}", one.name), std::string(one.summary));
  return text.empty() ? text : "\nSubcommands:\n" + text;
}

std::string HelpFormatter::groups(const CommandApp& app, bool all) const {
  std::string text;
  bool has_rare = false;
  for (const EnumName& heading : enum_names(Heading())) {
    std::string rows;
    for (const CLI::Option* option : app.get_options({})) {
      const OptionDef* def = app.row(*option);
      if (def == nullptr || !is_listed_under(*def, heading)) continue;
      if (!all && !def->is_common) {
        has_rare = true;
        continue;
      }
      const std::string names = all ? make_option_name(option, false) : short_names(*option);
      rows += row(names + make_option_opts(option), make_option_desc(option));
    }
    if (!rows.empty()) text += fmt::format("\n{}:\n{}", heading.name, rows);
  }
  if (has_rare)
    text += wrapped_text(fmt::format("\nMore options: {} --help-all\n", app.get_name()), columns_);
  return text;
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return option->get_name(true, false);
  std::string names;
  for (const std::string& name : option->get_snames()) names += fmt::format("-{}, ", name);
  for (const std::string& name : option->get_lnames()) names += fmt::format("--{}, ", name);
  return names.substr(0, names.size() - 2);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (is_flag(*option) || option->get_positional()) return "";
  const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size &&
                    option->get_allow_extra_args();
  return fmt::format(" {}{}", option->get_type_name(), many ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string value = option->get_default_str();
  // If 0 or an empty value has a special meaning, the description explains it.
  const bool explains_default =
      option->get_description().find("by default") != std::string::npos ||
      option->get_description().find(fmt::format("({}:", value)) != std::string::npos;
  if (value.empty() || value == "[]" || explains_default) return option->get_description();
  return fmt::format("{} (default: {})", option->get_description(), value);
}

std::string HelpFormatter::row(const std::string& names, const std::string& meaning) const {
  const std::size_t indent = columns_ < kRoomForTwo ? 6 : 30;
  std::string text = wrapped_text("  " + names, columns_);
  const bool has_room = display_width(text) < indent;
  std::string gap =
      has_room ? std::string(indent - display_width(text), ' ') : "\n" + std::string(indent, ' ');
  for (const std::string& line : wrapped_line(meaning, columns_ - indent)) {
    text += gap + line;
    gap = "\n" + std::string(indent, ' ');
  }
  return text + "\n";
}

std::string overview(std::size_t columns) {
  std::string text = wrapped_text(
      "hone finds the smallest, fastest version of a model within your accuracy limit.\n\n"
      "Usage: hone COMMAND [OPTIONS]     Help: hone COMMAND --help\n",
      columns);
  std::size_t width = 0;  // of the names
  for (const Command& command : commands()) width = std::max(width, command.name.size());
  const std::size_t indent = width + 4;
  for (const CommandGroup& group : command_groups()) {
    text += fmt::format("\n{}\n", group.name);
    for (const Command& command : group.commands) {
      std::string start = fmt::format("  {:<{}}  ", command.name, width);
      for (const std::string& line : wrapped_line(command.summary, columns - indent)) {
        text += start + line + "\n";
        start = std::string(indent, ' ');
      }
    }
  }
  return text;
}

}  // namespace hone
