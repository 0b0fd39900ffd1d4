#include "hone/report/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

/// What happens to a program's files and folder before it starts.
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

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void run_gnuplot(const fs::path& folder, std::string_view script) {
  constexpr const char* kMessages = "gnuplot.log";
  SpawnActions actions;
  ::posix_spawn_file_actions_addchdir_np(actions.get(), folder.c_str());
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, kMessages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::posix_spawn_file_actions_adddup2(actions.get(), STDOUT_FILENO, STDERR_FILENO);
  std::string program = "gnuplot", settings = "--default-settings", file(script);
  char* const arguments[] = {program.data(), settings.data(), file.data(), nullptr};
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, "gnuplot", actions.get(), nullptr, arguments, environ);
  user_check(error != ENOENT,
             "figure: gnuplot is not installed; install the package gnuplot-nox (apt install "
             "gnuplot-nox)");
  user_check(error == 0, "figure: cannot start gnuplot: {}", std::strerror(error));
  const int status = wait_for(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string ending = WIFEXITED(status) ? fmt::format("with code {}", WEXITSTATUS(status))
                                               : fmt::format("by signal {}", WTERMSIG(status));
  fail("figure: gnuplot ended {}: {}", ending, trim(read_file(folder / kMessages)));
}

}  // namespace hone
