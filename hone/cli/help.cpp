#include "hone/cli/help.h"

#include <fmt/format.h>

#include "hone/cli/command.h"
#include "hone/cli/settings.h"

namespace hone {

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
  if (value.empty() || value == "[]") return option->get_description();
  return fmt::format("{} (default {})", option->get_description(), value);
}

std::string overview() {
  std::string text =
      "hone fine-tunes and quantizes transformers, and measures what that costs\n"
      "Usage: hone COMMAND [arguments]; `hone COMMAND --help` explains one\n\n";
  for (const CommandGroup& group : command_groups()) {
    std::string_view heading = group.name;
    for (const Command& command : group.commands) {
      text += fmt::format("{:<9}{:<11} {}\n", heading, command.name, command.summary);
      heading = "";
    }
  }
  return text + "MODEL is a Hugging Face folder (BERT), or tiny or base for fresh weights.\n";
}

}  // namespace hone
