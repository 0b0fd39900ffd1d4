#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "tests/support/expect.h"

/// Runs the program as users do: arguments in, two output streams and an exit code out.
namespace hone::testing {

/// Exit codes for invalid inputs and for invalid command lines.
inline constexpr int kUserError = 1, kUsageError = 2;

struct Ending {
  int code = 0;          ///< exit code; 128 + n when signal n ended it
  std::string output;    ///< standard output
  std::string messages;  ///< standard error
};

/// Returns the path of the program.
std::string hone_program();

/// File descriptors that a program gets as its standard streams.
struct Streams {
  int input = -1, output = -1, messages = -1;
};

/// Starts `hone ARGUMENTS` in `folder`, without a shell.
pid_t start_hone(const std::vector<std::string>& arguments, const fs::path& folder,
                 const Streams& streams);

/// Waits for the process to end. Returns the exit code, or 128 + n if signal n ended it.
int wait_for(pid_t process);

/// Runs `hone ARGUMENTS` in `folder`, without a shell, and waits for it to end.
Ending run_hone(const std::vector<std::string>& arguments, const fs::path& folder);

/// Like run_hone, but sends `signal` as soon as `ready` returns true, unless the process has ended before.
Ending run_hone_until(const std::vector<std::string>& arguments, const fs::path& folder, int signal,
                      const std::function<bool()>& ready);

/// Runs `command(OUTPUT)`, which creates the folder OUTPUT in `folder`, kills it at random moments, and resumes it
/// until the folder exists. Repeats this with new folders until there were `kills` kills. Expects `is_same(OUTPUT)` to
/// be true for each folder.
void expect_same_after_kills(
    int kills, const fs::path& folder,
    const std::function<std::vector<std::string>(const std::string&)>& command,
    const std::function<bool(const std::string&)>& is_same);

/// Like run_hone, but expects success.
Ending run_well(const std::vector<std::string>& arguments, const fs::path& folder);

/// Returns the single line of JSON that `hone ARGUMENTS --json` prints. Expects success.
Json run_json(std::vector<std::string> arguments, const fs::path& folder);

/// Returns the names of all commands in `hone --help`.
std::vector<std::string> command_names();

/// Returns the names of a command's subcommands in its help, such as "linear" of "bench".
std::vector<std::string> subcommand_names(const std::string& command);

/// Returns whether the program can generate code on this machine (`hone doctor` says why not).
bool generates_code();

/// Splits a line into words as a shell does, without expansions: 'a b' and "a b" are one word.
std::vector<std::string> shell_words(std::string_view line);

/// Returns a folder with the model `model`, trained for one step, and its training data `reviews.csv`: columns `text`
/// and `label` (`bad` or `good`), `kReviews` rows. All tests of a program share it, so it must not be changed.
const fs::path& workshop();
inline constexpr int kReviews = 40;

/// Copies the folder `finished` of a training run to `partial`, in the state of an interrupted run.
void leave_interrupted(const fs::path& finished, const fs::path& partial);

/// Trains a model on the workshop's data for three steps and returns its path in `folder`. Its predictions differ
/// between texts, which they hardly do after one step.
std::string trained_longer(const TemporaryFolder& folder);

/// Parses each line of JSON lines.
std::vector<Json> json_lines(std::string_view text);

/// Reads an HTML page with plain spaces and without markup that prevents line breaks.
std::string read_page(const fs::path& file);

/// Expects every file in the folder to be recorded and unchanged. Jobs treat unrecorded files as somebody else's.
void expect_all_recorded(const fs::path& folder);

/// Returns the sorted names of a folder's entries.
std::vector<std::string> entries(const fs::path& folder);

}  // namespace hone::testing
