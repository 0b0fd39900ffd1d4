#include "hone/base/own_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include "hone/base/cpu.h"
#include "hone/base/descriptor.h"
#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"

namespace hone {
namespace {

/// Environment variable of a command: the descriptor for messages to the parent.
constexpr const char* kFailureVariable = "HONE_FAILURE_DESCRIPTOR";
/// Environment variable of a command: fingerprints of warnings already shown.
constexpr const char* kShownVariable = "HONE_SHOWN_WARNINGS";
constexpr int kFailureDescriptor = 3;  // the first after the standard streams
/// Messages consist of a kind, a text and an end mark.
constexpr char kFailure = 'F', kMemory = 'M', kPeak = 'P', kWarning = 'W', kEnd = '\0';
constexpr const char* kOwnProgram = "/proc/self/exe";

// Returns the path that started this program, for systems without /proc.
std::string started_program() {
  const char* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return path == nullptr ? "" : fs::absolute(path).string();
}

// Appends available data; closes the descriptor at its end.
void read_some(Descriptor& from, std::string& to) {
  char piece[4096];
  const ssize_t count = ::read(from.number(), piece, sizeof(piece));
  if (count > 0) {
    to.append(piece, static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    from.close();
  }
}

// Reads both pipes to their ends, and forwards a stop request to `process`.
void read_both(Pipe& output, Pipe& failure, pid_t process, CommandResult& ending) {
  bool asked = false;
  while (output.reader.number() >= 0 || failure.reader.number() >= 0) {
    pollfd waits[] = {{output.reader.number(), POLLIN, 0}, {failure.reader.number(), POLLIN, 0}};
    // A signal between the check and the call is noticed within a second.
    const int ready = ::poll(waits, 2, 1000);
    if (interrupt_signal() != 0 && !asked) {
      ::kill(process, interrupt_signal());
      asked = true;
    }
    if (ready <= 0) continue;
    if (waits[0].revents != 0) read_some(output.reader, ending.output);
    if (waits[1].revents != 0) read_some(failure.reader, ending.error);
  }
}

// Parses the messages; one without an end mark is a truncated failure.
void take_messages(CommandResult& ending) {
  std::string_view told = ending.error;
  std::string failure;
  while (!told.empty()) {
    const std::size_t end = std::min(told.find(kEnd), told.size());
    const std::string_view text = told.substr(1, end - 1);
    if (told.front() == kMemory || told.front() == kPeak) {
      std::int64_t bytes = 0;
      std::from_chars(text.data(), text.data() + text.size(), bytes);
      std::int64_t& most = told.front() == kMemory ? ending.predicted_bytes : ending.peak_bytes;
      most = std::max(most, bytes);
    } else if (told.front() == kWarning) {
      if (std::ranges::find(ending.warnings, text) == ending.warnings.end())
        ending.warnings.emplace_back(text);
    } else {
      failure += text;
    }
    told.remove_prefix(std::min(end + 1, told.size()));
  }
  ending.error = std::move(failure);
}

// Runs between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, const char* program,
                         const char* folder, pid_t parent, int input, int output, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent has already died
  ::setpgid(0, 0);                          // only the parent gets Ctrl-C, and forwards it
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir(folder) == 0 && ::dup2(input, STDIN_FILENO) >= 0 &&
      ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(failure, kFailureDescriptor) >= 0) {
    ::execve(kOwnProgram, arguments, environment);
    ::execve(program, arguments, environment);
  }
  ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Fingerprints of warnings shown by this process or earlier ones.
class ShownWarnings {
 public:
  ShownWarnings() {
    const char* text = is_own_command() ? std::getenv(kShownVariable) : nullptr;
    if (text == nullptr) return;
    for (std::string& print : split(text, ' ')) before_.insert(std::move(print));
    ::unsetenv(kShownVariable);
  }
  void add(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    now_.insert(print_of(sentence));
  }
  bool were_before(const std::string& sentence) const {
    return before_.contains(print_of(sentence));
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    std::set<std::string> all = before_;
    all.insert(now_.begin(), now_.end());
    return fmt::format("{}", fmt::join(all, " "));
  }

 private:
  static std::string print_of(const std::string& sentence) {
    Fingerprint print;
    print.add(sentence);
    return print.text();
  }

  std::mutex mutex_;
  std::set<std::string> before_, now_;
};

ShownWarnings& shown_warnings() {
  static ShownWarnings shown;
  return shown;
}

std::vector<std::string> environment_of_command() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  variables.push_back(fmt::format("{}={}", kFailureVariable, kFailureDescriptor));
  variables.push_back(fmt::format("{}={}", kShownVariable, shown_warnings().text()));
  return variables;
}

// Moves a descriptor above those that the child redirects.
void move_above(Descriptor& descriptor) {
  const int moved = ::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, kFailureDescriptor + 1);
  user_check(moved >= 0, "cannot open another file: {}", std::strerror(errno));
  descriptor.close();
  descriptor.set(moved);
}

int failure_descriptor() {
  static const int descriptor = [] {
    const char* text = std::getenv(kFailureVariable);
    if (text == nullptr || std::string_view(text) != std::to_string(kFailureDescriptor)) return -1;
    ::unsetenv(kFailureVariable);  // not for other programs
    return ::fcntl(kFailureDescriptor, F_SETFD, FD_CLOEXEC) == 0 ? kFailureDescriptor : -1;
  }();
  return descriptor;
}

bool report(char kind, const std::string& text) {
  if (failure_descriptor() < 0) return false;
  const std::string message = kind + text + kEnd;
  std::string_view left = message;
  while (!left.empty()) {
    const ssize_t written = ::write(failure_descriptor(), left.data(), left.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

CommandResult run_own_command(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<std::string> words = {"hone"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_of_command();
  const std::vector<char*> argument_list = pointers_to(words), environment = pointers_to(variables);
  Pipe output, failure;
  Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (Descriptor* descriptor : {&output.writer, &failure.writer, &nothing})
    move_above(*descriptor);
  const std::string program = started_program();
  const auto start = std::chrono::steady_clock::now();
  const pid_t parent = ::getpid(), process = ::fork();
  user_check(process >= 0, "cannot start a process: {}", std::strerror(errno));
  if (process == 0)
    become(argument_list.data(), environment.data(), program.c_str(), folder.c_str(), parent,
           nothing.number(), output.writer.number(), failure.writer.number());
  output.writer.close();
  failure.writer.close();
  CommandResult ending;
  read_both(output, failure, process, ending);
  take_messages(ending);
  int status = 0;
  rusage usage{};
  while (::wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // For a killed child; includes the memory of this process at the fork.
  if (ending.peak_bytes == 0) ending.peak_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  // Forwards peak memory, prediction and warnings to our own parent.
  report(kPeak, std::to_string(ending.peak_bytes));
  predict_memory(static_cast<double>(ending.predicted_bytes));
  for (const std::string& warning : ending.warnings) report_warning(warning);
  return ending;
}

bool is_own_command() { return failure_descriptor() >= 0; }

bool report_failure(const std::string& message) { return report(kFailure, message); }

void report_warning(const std::string& sentence) {
  report(kWarning, sentence);
  shown_warnings().add(sentence);
}

bool was_shown_before(const std::string& warning) { return shown_warnings().were_before(warning); }

void report_peak_memory() { report(kPeak, std::to_string(peak_resident_bytes())); }

void predict_memory(double bytes) {
  report(kMemory, std::to_string(static_cast<std::int64_t>(bytes)));
}

}  // namespace hone
