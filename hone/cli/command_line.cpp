#include "hone/cli/command_line.h"

#include "hone/base/text.h"
#include "hone/cli/settings.h"

namespace hone {

std::string command_line(const CLI::App& app, const std::map<std::string, std::string>& instead,
                         const OptionSpellings& spellings) {
  std::string line = app.get_name(), flags;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = argument_name(*option);
    std::vector<std::string> values = option->results();
    if (const auto other = instead.find(name); other != instead.end()) {
      if (other->second.empty()) continue;
      values = {other->second};
    } else if (option->count() == 0) {
      continue;
    }
    const auto spelled = spellings.find(name);
    const std::string flag = spelled == spellings.end() ? "--" + name : spelled->second;
    if (is_flag(*option)) {
      flags += " " + flag;
      continue;
    }
    for (const std::string& value : values) {
      if (option->get_positional()) {
        line += " " + shell_word(value);
      } else {
        flags += fmt::format(" {} {}", flag, shell_word(value));
      }
    }
  }
  return line + flags;
}

}  // namespace hone
