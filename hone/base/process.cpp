#include "hone/base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "hone/base/descriptor.h"
#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

/// File and folder setup of a program before it starts.
class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(const Descriptor& from) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t count = ::read(from.number(), piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece, static_cast<std::size_t>(count));
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string run_program(const std::vector<std::string>& command, const fs::path& folder,
                        std::string_view package) {
  const std::string& name = command.front();
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Pipe pipe;
  SpawnActions actions;
  ::posix_spawn_file_actions_addchdir_np(actions.get(), folder.c_str());
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipe.writer.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipe.writer.number(), STDERR_FILENO);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, name.c_str(), actions.get(), nullptr, arguments.data(), environ);
  user_check(error != ENOENT, "{} is not installed; install the package {}", name, package);
  user_check(error == 0, "cannot start {}: {}", name, std::strerror(error));
  pipe.writer.close();
  std::string output = read_all(pipe.reader);
  const int status = wait_for(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string ending = WIFEXITED(status) ? fmt::format("with code {}", WEXITSTATUS(status))
                                               : fmt::format("by signal {}", WTERMSIG(status));
  fail("{} ended {}: {}", name, ending, trim(output));
}

std::string python_program() {
  const char* const named = std::getenv("HONE_PYTHON");
  return named == nullptr ? "python3" : named;
}

}  // namespace hone
