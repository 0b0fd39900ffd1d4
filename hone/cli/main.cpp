#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "hone/base/interrupt.h"
#include "hone/base/output_folder.h"
#include "hone/base/terminal.h"
#include "hone/base/text.h"
#include "hone/cli/command.h"
#include "hone/cli/help.h"
#include "hone/cli/output_check.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/cli/trainer_flags.h"
#include "hone/cli/value_kind.h"
#include "hone/runtime/machine.h"

// The program: finds the command, parses its arguments, runs it, and turns errors into messages and
// exit codes.
namespace hone {
namespace {

constexpr int kUserError = 1;
constexpr int kUsageError = 2;
constexpr int kGateFailed = 3;
constexpr int kInternalError = 70;  // EX_SOFTWARE of sysexits.h
constexpr int kNobodyReads = 128 + SIGPIPE;

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
  const std::string answer = trainer_flag_answer(strangers.front());
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

/// How an interrupted command goes on, when it has left something to go on with.
std::string way_on(const CLI::App& app) {
  const Json settings = settings_of(app);
  if (!settings.contains("resume")) return "";
  if (!path_exists(partial_folder(settings["output_dir"].get<std::string>()))) return "";
  return fmt::format("\nTo go on:\n  {}{}", command_line(app),
                     settings["resume"] == true ? "" : " --resume");
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

void run_command(const Command& command, std::vector<std::string> arguments) {
  CLI::App app;
  const std::function<void()> run = declare_command(command, app);
  arguments = with_signed_values(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", fitted(app.help(), terminal_columns(stdout)));
    return;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("hone {}: {}; see `hone {} --help`", command.name,
                                 problem(app, error), command.name));
  }
  check_outputs(app);
  try {
    run();
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.what() + way_on(app));
  }
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::FILE* const stream = arguments.empty() ? stderr : stdout;
    fmt::print(stream, "{}", overview(terminal_columns(stream)));
    return arguments.empty() ? kUsageError : 0;
  }
  if (arguments[0] == "--version") {
    fmt::print("hone {}\n", hone_version());
    return 0;
  }
  // After "--" there are no flags.
  const auto flags_end = std::find(arguments.begin(), arguments.end(), "--");
  std::transform(arguments.begin(), flags_end, arguments.begin(), with_underscores);
  const std::string name = arguments[0];
  arguments.erase(arguments.begin());
  run_command(find_command(name), std::move(arguments));
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::catch_interrupts();
  // A job whose reader has gone (`| head`) is finished all the same.
  ::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = hone::run({argv + 1, argv + argc});
    return hone::flush_output() ? code : hone::kNobodyReads;
  } catch (const hone::Interrupted& interrupted) {
    hone::print_message(interrupted.what());
    return 128 + hone::interrupt_signal();
  } catch (const hone::GateFailure& failure) {
    hone::print_message(failure.what());
    return hone::kGateFailed;
  } catch (const hone::UsageError& error) {
    hone::print_message(fmt::format("error: {}", error.what()));
    return hone::kUsageError;
  } catch (const hone::UserError& error) {
    hone::print_message(fmt::format("error: {}", error.what()));
    return hone::kUserError;
  } catch (const hone::fs::filesystem_error& error) {
    hone::print_message(
        fmt::format("error: {}: {}", error.path1().string(), error.code().message()));
    return hone::kUserError;
  } catch (const std::exception& error) {
    // What fmt::print throws says nothing of where.
    if (const auto* system = dynamic_cast<const std::system_error*>(&error);
        system != nullptr && std::ferror(stdout) != 0) {
      if (system->code().value() == EPIPE) return hone::kNobodyReads;
      hone::print_message(
          fmt::format("error: standard output: cannot write: {}", system->code().message()));
      return hone::kUserError;
    }
    hone::print_message(
        fmt::format("internal error: {}\nThis is a fault of hone, not yours; please report it with "
                    "the command line.",
                    error.what()));
    return hone::kInternalError;
  }
}
