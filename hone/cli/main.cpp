#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "hone/base/interrupt.h"
#include "hone/base/output_folder.h"
#include "hone/base/own_process.h"
#include "hone/base/terminal.h"
#include "hone/cli/help.h"
#include "hone/cli/output_check.h"
#include "hone/cli/parse_command.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
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

/// How an interrupted command goes on, when it has left something to go on with.
std::string way_on(const CLI::App& app) {
  const Json settings = settings_of(app);
  if (!settings.contains("resume")) return "";
  if (!path_exists(partial_folder(settings["output_dir"].get<std::string>()))) return "";
  return fmt::format("\nTo go on:\n  {}{}", command_line(app),
                     settings["resume"] == true ? "" : " --resume");
}

int run_words(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::FILE* const stream = words.empty() ? stderr : stdout;
    fmt::print(stream, "{}", overview(terminal_columns(stream)));
    return words.empty() ? kUsageError : 0;
  }
  if (words[0] == "--version") {
    fmt::print("hone {}\n", hone_version());
    return 0;
  }
  const ParsedCommand parsed = parse_command(std::move(words));
  if (parsed.asks_for_help) {
    fmt::print("{}", fitted(parsed.app->help(), terminal_columns(stdout)));
    return 0;
  }
  const std::string_view name = parsed.command->name;
  if (!parsed.problem.empty())
    throw UsageError(fmt::format("hone {}: {}; see `hone {} --help`", name, parsed.problem, name));
  check_outputs(*parsed.app);
  try {
    parsed.run();
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.what() + way_on(*parsed.app));
  }
  return 0;
}

// Whoever has started this process as a command of theirs says where it failed.
std::string as_error(const std::string& message) {
  return is_own_command() ? message : "error: " + message;
}

// Whoever has started this process as a command of theirs tells it in their words.
void report(const std::string& message) {
  if (!tell_failure(message)) print_message(message);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  // A command of another's is asked by them, who have told people.
  hone::catch_interrupts(/*tell=*/!hone::is_own_command());
  // A job whose reader has gone (`| head`) is finished all the same.
  ::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = hone::run_words({argv + 1, argv + argc});
    return hone::flush_output() ? code : hone::kNobodyReads;
  } catch (const hone::Interrupted& interrupted) {
    hone::report(interrupted.what());
    return 128 + hone::interrupt_signal();
  } catch (const hone::GateFailure& failure) {
    hone::report(failure.what());
    return hone::kGateFailed;
  } catch (const hone::UsageError& error) {
    hone::report(hone::as_error(error.what()));
    return hone::kUsageError;
  } catch (const hone::UserError& error) {
    hone::report(hone::as_error(error.what()));
    return hone::kUserError;
  } catch (const hone::fs::filesystem_error& error) {
    hone::report(
        hone::as_error(fmt::format("{}: {}", error.path1().string(), error.code().message())));
    return hone::kUserError;
  } catch (const std::exception& error) {
    // What fmt::print throws says nothing of where.
    if (const auto* system = dynamic_cast<const std::system_error*>(&error);
        system != nullptr && std::ferror(stdout) != 0) {
      if (system->code().value() == EPIPE) return hone::kNobodyReads;
      hone::report(hone::as_error(
          fmt::format("standard output: cannot write: {}", system->code().message())));
      return hone::kUserError;
    }
    hone::report(
        fmt::format("internal error: {}\nThis is a fault of hone, not yours; please report it with "
                    "the command line.",
                    error.what()));
    return hone::kInternalError;
  }
}
