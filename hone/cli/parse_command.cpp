#include "hone/cli/parse_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hone/base/text.h"
#include "hone/cli/command_line_words.h"
#include "hone/cli/settings.h"
#include "hone/cli/trainer_flags.h"

namespace hone {
namespace {

using Words = std::vector<std::string>;

/// The outcome of parsing a command line.
struct Attempt {
  std::unique_ptr<CommandApp> app;
  std::optional<CLI::AppFormatMode> help = {};
  std::optional<CLI::ParseError> error = {};
};

Attempt attempt(const Command& command, const Words& words) {
  Attempt made{.app = std::make_unique<CommandApp>(command)};
  Words arguments = words_for_parser(*made.app, words);
  std::ranges::reverse(arguments);  // CLI11 expects this order
  try {
    made.app->parse(arguments);
  } catch (const CLI::CallForHelp&) {
    made.help = CLI::AppFormatMode::Normal;
  } catch (const CLI::CallForAllHelp&) {
    made.help = CLI::AppFormatMode::All;
  } catch (const CLI::ParseError& error) {
    made.error = error;
  }
  return made;
}

Words flag_names(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns the problem with the number of a flag's values: more than one, or none; empty for other errors.
std::string count_problem(const Attempt& made, const Words& words) {
  if (made.error->get_name() != "ArgumentMismatch") return "";
  for (const CLI::Option* option : made.app->get_options()) {
    if (option->get_positional() || is_flag(*option)) continue;
    const auto most = static_cast<std::size_t>(option->get_items_expected_max());
    const Words typed = spellings_of(*option, *made.app, words);
    if (option->count() > most && typed.size() > 1)
      return fmt::format("{} are the same option; give it once", fmt::join(typed, " and "));
    if (option->count() > most)
      return fmt::format("--{} is given {}; give it once", argument_name(*option),
                         option->count() == 2 ? "twice" : fmt::format("{} times", option->count()));
    if (std::string_view(made.error->what()).starts_with(option->get_name() + ":"))
      return fmt::format("--{} needs a value", argument_name(*option));
  }
  return "";
}

/// Returns the words that the parser did not recognize.
Words strangers(const CLI::App& app) {
  Words words = app.remaining();
  std::erase(words, "--");
  std::ranges::transform(words, words.begin(), unmarked);
  return words;
}

/// Whether the parser accepts `words` with `name` in place of the option of `stranger`, whatever its value.
bool would_take(const std::string& name, const std::string& stranger, const Command& command,
                Words words) {
  for (std::string& word : words) {
    if (with_underscores(word) != stranger) continue;
    word = name + stranger.substr(std::min(stranger.find('='), stranger.size()));
    break;
  }
  const Attempt made = attempt(command, words);
  const Words left = strangers(*made.app);
  if (std::ranges::find(left, stranger) != left.end() || !made.error) return !made.error;
  if (made.app->get_option(name)->count() > 1 && made.error->get_name() == "ArgumentMismatch")
    return false;
  const std::string_view problem = made.error->what();
  return problem.find(name) == std::string_view::npos || problem.starts_with(name + ":");
}

/// Returns the name that starts with `begin`; "" if there is none or more than one.
std::string only_longer(std::string_view begin, const Words& names) {
  const auto is_longer = [&](const std::string& name) { return name.starts_with(begin); };
  const auto found = std::ranges::find_if(names, is_longer);
  return begin.size() > 2 && std::ranges::count_if(names, is_longer) == 1 ? *found : "";
}

/// Returns the usage of each command with the same first word that has the option: "`hone bench MODEL`".
Words owners_of(const std::string& flag, const Command& command) {
  const Words word = {std::string(command.name.substr(0, command.name.find(' ')))};
  std::vector<const Command*> all = {match_command(word).command};
  for (const Command& one : all.front()->subcommands) all.push_back(&one);
  Words owners;
  if (!flag.starts_with("--")) return owners;
  for (const Command* other : all) {
    if (other == &command) continue;
    const CommandApp app(*other);
    if (app.get_option_no_throw(flag) == nullptr) continue;
    std::string usage = app.get_name();
    for (const CLI::Option* option : app.get_options({}))
      if (option->get_positional()) usage += " " + option->get_name(true, false);
    owners.push_back(fmt::format("`{}`", usage));
  }
  return owners;
}

/// Returns "; did you mean …" with an option that the command would accept here.
std::string suggestion(const std::string& stranger, const Attempt& made, const Command& command,
                       const Words& words) {
  Words names = flag_names(*made.app);
  const std::string name = stranger.substr(0, stranger.find('='));
  while (true) {
    std::string near = nearest(name, names);
    if (near.empty()) near = only_longer(name, names);
    if (near.empty()) return "";
    if (would_take(near, stranger, command, words))
      return fmt::format("; did you mean '{}'?", near);
    std::erase(names, near);
  }
}

/// Returns the problem with the words after a command that needs a subcommand.
std::string subcommand_problem(const Command& command, const Words& words) {
  const Words names = subcommand_names(command);
  const std::string expected = fmt::format("expected {}", fmt::join(names, " or "));
  if (words.empty() || words.front().starts_with('-'))
    return fmt::format("no subcommand; {}", expected);
  return fmt::format("unknown subcommand '{}'; {}{}", words.front(), expected,
                     did_you_mean(words.front(), names));
}

/// Returns the problem with the arguments. Unknown words come first: a mistyped flag is also a missing one.
std::string problem(const Attempt& made, const Command& command, const Words& words) {
  if (command.needs_subcommand() && (!made.error || !words.front().starts_with('-')))
    return subcommand_problem(command, words);
  const Words unknown = strangers(*made.app);
  if (unknown.empty()) {
    const std::string count = count_problem(made, words);
    return count.empty() ? made.error->what() : count;
  }
  const std::string& stranger = unknown.front();
  const auto typed = std::ranges::find(words, stranger, with_underscores);
  const std::string shown = typed == words.end() ? stranger : *typed;
  const std::string flag = stranger.substr(0, stranger.find('='));
  if (const Words owners = owners_of(flag, command); !owners.empty())
    return fmt::format("{} is an option of {}, not of `hone {}`", flag, fmt::join(owners, " and "),
                       command.name);
  const std::string near = suggestion(stranger, made, command, words);
  std::string answer =
      trainer_flag_advice(stranger, shown.substr(0, shown.find('=')), flag_names(*made.app));
  if (near.empty() && !answer.empty()) return answer;
  if (command.name == "formats" && stranger == "--compare")
    return "--compare MODEL is the command `hone compare-formats MODEL`";
  if (command.name == "formats" && stranger == "--suggest")
    return "--suggest MODEL is the command `hone suggest MODEL --format FORMAT`";
  constexpr std::string_view kTruths[] = {"true", "True", "false", "False"};
  if (std::ranges::find(kTruths, stranger) != std::end(kTruths))
    return fmt::format(
        "unexpected argument '{}': a flag without a value is true; --flag=false turns it "
        "off",
        stranger);
  if (!stranger.starts_with('-') && made.app->get_option_no_throw("--model") != nullptr)
    return fmt::format("unexpected argument '{}'; a model is given here as --model {}", stranger,
                       stranger);
  const CLI::Option* data = made.app->get_option_no_throw("--data");
  if (!stranger.starts_with('-') && data != nullptr && data->count() == 0)
    return fmt::format("unexpected argument '{}'; data are given here as --data {}", stranger,
                       stranger);
  return fmt::format("unexpected argument '{}'{}", shown, near);
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

// Returns the command that was probably meant: a near spelling, the only one that starts with the word ("quant"), or
// the longest that the word starts with ("evaluate").
std::string command_near(std::string_view name) {
  const std::vector<std::string> names = names_of_commands();
  if (std::string near = nearest(name, names); !near.empty()) return near;
  std::string near = only_longer(name, names);
  if (!near.empty()) return near;
  for (const std::string& command : names)
    if (name.starts_with(command) && command.size() > near.size()) near = command;
  return near.size() > 2 ? near : "";
}

[[noreturn]] void refuse_command(std::string_view name) {
  const std::string near = command_near(name);
  throw UsageError(fmt::format("unknown command '{}'; `hone --help` lists them{}", name,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

}  // namespace

ParsedCommand parse_command(const Words& words) {
  HONE_ASSERT(!words.empty(), "no command");
  const CommandMatch match = match_command(words);
  if (match.command == nullptr) refuse_command(words[0]);
  const Command& command = *match.command;
  const Words arguments(words.begin() + static_cast<std::ptrdiff_t>(match.words), words.end());
  Attempt made = attempt(command, arguments);
  ParsedCommand parsed{
      .command = &command, .help = made.help, .spellings = spellings_in(*made.app, arguments)};
  if (!made.help) parsed.problem = missing_value(*made.app, arguments);
  if (parsed.problem.empty() && (made.error || (command.needs_subcommand() && !made.help)))
    parsed.problem = with_spellings(problem(made, command, arguments), parsed.spellings);
  parsed.app = std::move(made.app);
  return parsed;
}

}  // namespace hone
