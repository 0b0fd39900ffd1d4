#include "hone/cli/parse_command.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/cli/settings.h"
#include "hone/cli/trainer_flags.h"
#include "hone/cli/value_kind.h"

namespace hone {
namespace {

/// `--learning-rate` and `--learning_rate` are the same: dashes inside the name of a flag become
/// underscores.
std::string with_underscores(std::string argument) {
  if (!argument.starts_with("--")) return argument;
  const std::size_t end = std::min(argument.find('='), argument.size());
  for (std::size_t i = 2; i < end; ++i)
    if (argument[i] == '-') argument[i] = '_';
  return argument;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "--learning_rate (also --lr)"
std::string all_names(const CLI::Option& option) {
  std::vector<std::string> others;
  for (const std::string& name : option.get_lnames())
    if (name != argument_name(option)) others.push_back("--" + name);
  for (const std::string& name : option.get_snames()) others.push_back("-" + name);
  return fmt::format("--{}{}", argument_name(option),
                     others.empty() ? "" : fmt::format(" (also {})", fmt::join(others, ", ")));
}

/// What is wrong with how many values a flag has: more than one, or none; empty for other errors.
std::string count_problem(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() != "ArgumentMismatch") return "";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || is_flag(*option)) continue;
    const auto most = static_cast<std::size_t>(option->get_items_expected_max());
    if (option->count() > most)
      return fmt::format("{} is given {}; give it once", all_names(*option),
                         option->count() == 2 ? "twice" : fmt::format("{} times", option->count()));
    if (std::string_view(error.what()).starts_with(option->get_name() + ":"))
      return fmt::format("{} needs a value behind it", all_names(*option));
  }
  return "";
}

/// What is wrong with the arguments. Strangers among them come first: a mistyped flag is also a
/// missing one.
std::string problem(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> strangers = app.remaining();
  if (strangers.empty()) {
    const std::string count = count_problem(app, error);
    return count.empty() ? error.what() : count;
  }
  std::string answer = trainer_flag_answer(strangers.front());
  if (!answer.empty()) return answer;
  if (app.get_name() == "hone formats" && strangers.front() == "--compare")
    return "--compare MODEL is the command `hone compare-formats MODEL`";
  if (app.get_name() == "hone formats" && strangers.front() == "--suggest")
    return "--suggest MODEL is the command `hone suggest MODEL --format FORMAT`";
  constexpr std::string_view kTruths[] = {"true", "True", "false", "False"};
  if (std::ranges::find(kTruths, strangers.front()) != std::end(kTruths))
    return fmt::format(
        "unexpected argument '{}': a flag without a value is true; --flag=false turns it "
        "off",
        strangers.front());
  if (!strangers.front().starts_with('-') && app.get_option_no_throw("--model") != nullptr)
    return fmt::format("unexpected argument '{}'; a model is given here as --model {}",
                       strangers.front(), strangers.front());
  return fmt::format("unexpected argument '{}'{}", strangers.front(),
                     did_you_mean(strangers.front(), flag_names(app)));
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

const Command& find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return command;
  throw UsageError(fmt::format("unknown command '{}'{}; `hone --help` lists them", name,
                               did_you_mean(name, command_names())));
}

// "--sort -loss" is "--sort=-loss": what begins with one dash would be read as flags of one letter.
std::vector<std::string> with_signed_values(const CLI::App& app,
                                            const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  for (const std::string& argument : arguments) {
    const CLI::Option* before = joined.empty() ? nullptr : app.get_option_no_throw(joined.back());
    const ValueKind* kind = before == nullptr ? nullptr : value_kind(*before);
    if (kind != nullptr && kind->takes_minus && argument.starts_with('-') &&
        !argument.starts_with("--")) {
      joined.back() += "=" + argument;
    } else {
      joined.push_back(argument);
    }
  }
  return joined;
}

}  // namespace

ParsedCommand parse_command(std::vector<std::string> words) {
  HONE_ASSERT(!words.empty(), "no command");
  // After "--" there are no flags.
  const auto flags_end = std::find(words.begin(), words.end(), "--");
  std::transform(words.begin(), flags_end, words.begin(), with_underscores);
  ParsedCommand parsed{.command = &find_command(words[0]), .app = std::make_unique<CLI::App>()};
  CLI::App& app = *parsed.app;
  words.erase(words.begin());
  parsed.run = declare_command(*parsed.command, app);
  std::vector<std::string> arguments = with_signed_values(app, words);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    parsed.asks_for_help = true;
  } catch (const CLI::ParseError& error) {
    parsed.problem = problem(app, error);
  }
  return parsed;
}

}  // namespace hone
