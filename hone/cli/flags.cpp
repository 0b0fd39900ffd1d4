#include "hone/cli/flags.h"

#include <algorithm>
#include <set>

#include "hone/cli/command.h"

namespace hone {
namespace {

// The long names of all arguments of all commands.
const std::set<std::string, std::less<>>& flag_names() {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> all;
    for (const Command& command : commands()) {
      CLI::App app;
      declare_command(command, app);
      for (const CLI::Option* option : app.get_options())
        all.insert(option->get_lnames().begin(), option->get_lnames().end());
    }
    return all;
  }();
  return names;
}

}  // namespace

std::string with_flags(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos
                                  ? open
                                  : text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", open + 1);
    if (close == std::string_view::npos) break;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const bool is_flag = text[close] == '`' && flag_names().contains(name);
    result.append(text.substr(0, open));
    result.append(is_flag ? "--" : "`").append(name);
    text.remove_prefix(is_flag ? close + 1 : close);
    if (!is_flag && text.starts_with('`')) {  // the end of other words in quotes
      result += '`';
      text.remove_prefix(1);
    }
  }
  return result.append(text);
}

}  // namespace hone
