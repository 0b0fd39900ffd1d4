#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "tests/support/expect.h"

/// The program as its users meet it: words in, bytes on two streams and an exit code out.
namespace hone::testing {

/// What it ends with where somebody gave it what it cannot take, and where the words were wrong.
inline constexpr int kUserError = 1, kUsageError = 2;

struct Ending {
  int code = 0;          ///< exit code; 128 + n when signal n ended it
  std::string output;    ///< standard output
  std::string messages;  ///< standard error
};

/// The path of the program.
std::string hone_program();

/// File descriptors that a program gets as its standard streams.
struct Streams {
  int input = -1, output = -1, messages = -1;
};

/// Starts `hone ARGUMENTS` in `folder`, without a shell.
pid_t start_hone(const std::vector<std::string>& arguments, const fs::path& folder,
                 const Streams& streams);

/// Waits for its end: the exit code; 128 + n when signal n ended it.
int wait_for(pid_t process);

/// Runs `hone ARGUMENTS` to its end in `folder`, without a shell.
Ending run_hone(const std::vector<std::string>& arguments, const fs::path& folder);

/// The same; as soon as `ready` says so, the process gets `signal` (unless it has ended before).
Ending run_hone_until(const std::vector<std::string>& arguments, const fs::path& folder, int signal,
                      const std::function<bool()>& ready);

/// Runs `command(OUTPUT)`, which leaves a folder of that name in `folder`, kills it at random moments, and resumes it until the
/// folder stands; again, until there were `kills`. `is_same(OUTPUT)` says whether the folder is as it has to be.
void expect_same_after_kills(
    int kills, const fs::path& folder,
    const std::function<std::vector<std::string>(const std::string&)>& command,
    const std::function<bool(const std::string&)>& is_same);

/// The same as run_hone, which must end in success.
Ending run_well(const std::vector<std::string>& arguments, const fs::path& folder);

/// The one line of JSON that `hone ARGUMENTS --json`, which must end in success, prints.
Json run_json(std::vector<std::string> arguments, const fs::path& folder);

/// The names of all commands, as `hone --help` lists them.
std::vector<std::string> command_names();

/// The words that select the subcommands of a command, as its help lists them: "linear" of "bench".
std::vector<std::string> subcommand_names(const std::string& command);

/// Whether the program generates code on this machine (`hone doctor` says why not).
bool generates_code();

/// The words of a line as a shell splits it, without expansions: 'a b' and "a b" are one word.
std::vector<std::string> shell_words(std::string_view line);

/// A folder with the model `model`, trained for one step, and the data `reviews.csv` it was trained
/// on: columns `text` and `label` (`bad` or `good`), `kReviews` rows. The same one for all of a
/// test program; for reading only.
const fs::path& workshop();
inline constexpr int kReviews = 40;

/// Leaves `partial` as a training that wrote `finished` leaves it when it is interrupted.
void leave_interrupted(const fs::path& finished, const fs::path& partial);

/// The path of a model in `folder` that learned from the workshop's data for three steps: its answers
/// differ from text to text, after one step hardly.
std::string trained_longer(const TemporaryFolder& folder);

/// Each object of a file of JSON lines.
std::vector<Json> json_lines(std::string_view text);

/// A page as it reads: its spaces are plain ones, and nothing keeps words together.
std::string read_page(const fs::path& file);

/// Expects every file in the folder to be in its record, unchanged: a job that wrote a file without claiming it takes it for
/// somebody else's.
void expect_all_recorded(const fs::path& folder);

/// The names of what lies in a folder, sorted.
std::vector<std::string> entries(const fs::path& folder);

}  // namespace hone::testing
