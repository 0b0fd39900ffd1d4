#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "hone/base/interrupt.h"
#include "hone/base/output_folder.h"
#include "hone/base/own_process.h"
#include "hone/base/terminal.h"
#include "hone/cli/help.h"
#include "hone/cli/job_messages.h"
#include "hone/cli/output_check.h"
#include "hone/cli/parse_command.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/runtime/machine.h"
#include "hone/study/gates.h"

// The program: finds the command, parses its arguments, runs it, and turns errors into messages and
// exit codes.
namespace hone {
namespace {

constexpr int kUserError = 1;
constexpr int kUsageError = 2;
constexpr int kInternalError = 70;  // EX_SOFTWARE of sysexits.h
constexpr int kClosedPipe = 128 + SIGPIPE;

/// Returns how to resume an interrupted command; "" if it left nothing to resume.
std::string resume_hint(const CLI::App& app) {
  const Json settings = settings_of(app);
  if (!settings.contains("resume")) return "";
  if (!path_exists(partial_folder(settings["output_dir"].get<std::string>()))) return "";
  return fmt::format("\nTo resume:\n  {}{}", command_line(app),
                     settings["resume"] == true ? "" : " --resume");
}

int run_arguments(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print(words.empty() ? stderr : stdout, "{}", overview(help_columns()));
    return words.empty() ? kUsageError : 0;
  }
  if (words[0] == "--version") {
    fmt::print("hone {}\n", hone_version());
    return 0;
  }
  const ParsedCommand parsed = parse_command(words);
  set_option_spellings(parsed.spellings);
  if (parsed.help) {
    fmt::print("{}", parsed.app->help("", *parsed.help));
    return 0;
  }
  const std::string_view name = parsed.command->name;
  if (!parsed.problem.empty())
    throw UsageError(fmt::format("hone {}: {}{} `hone {} --help`", name, parsed.problem,
                                 parsed.problem.ends_with('?') ? " See" : "; see", name));
  check_outputs(*parsed.app);
  try {
    parsed.app->run();
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.what() + resume_hint(*parsed.app));
  }
  return 0;
}

// In a process that another hone process started, the parent adds the context of the error.
std::string as_error(const std::string& message) {
  return is_own_command() ? message : "error: " + message;
}

// In a process that another hone process started, the parent prints the message.
void report(const std::string& message) {
  print_counted_warnings();
  if (!report_failure(with_spellings(message, option_spellings()))) print_message(message);
}

int run_to_code(const std::vector<std::string>& words) {
  try {
    const int code = run_arguments(words);
    print_counted_warnings();
    return flush_output() ? code : kClosedPipe;
  } catch (const Interrupted& interrupted) {
    report(interrupted.what());
    return 128 + interrupt_signal();
  } catch (const GateFailure& failure) {
    report(failure.what());
    return kGateFailed;
  } catch (const UsageError& error) {
    report(as_error(error.what()));
    return kUsageError;
  } catch (const UserError& error) {
    report(as_error(error.what()));
    return kUserError;
  } catch (const fs::filesystem_error& error) {
    report(as_error(fmt::format("{}: {}", error.path1().string(), error.code().message())));
    return kUserError;
  } catch (const std::exception& error) {
    // The exceptions of fmt::print do not say where they occurred.
    if (const auto* system = dynamic_cast<const std::system_error*>(&error);
        system != nullptr && std::ferror(stdout) != 0) {
      if (system->code().value() == EPIPE) return kClosedPipe;
      report(as_error(fmt::format("standard output: cannot write: {}", system->code().message())));
      return kUserError;
    }
    report(
        fmt::format("internal error: {}\nThis is a fault of hone, not yours; please report it with "
                    "the command line.",
                    error.what()));
    return kInternalError;
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  // In a process that another hone process started, the parent has already told the user about the interrupt.
  hone::catch_interrupts(/*tell=*/!hone::is_own_command());
  // A job finishes even if the reader of its output is gone (`| head`).
  ::signal(SIGPIPE, SIG_IGN);
  const int code = hone::run_to_code({argv + 1, argv + argc});
  hone::report_peak_memory();
  return code;
}
