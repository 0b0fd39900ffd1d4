#include "tests/search/postgres_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace hone::testing {
namespace {

constexpr uid_t kNobody = 65534;

// Returns the folder of the newest server that Debian's packages have installed.
fs::path find_programs() {
  fs::path newest;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error))
    if (fs::exists(version.path() / "bin/initdb") && version.path() > newest)
      newest = version.path();
  return newest.empty() ? newest : newest / "bin";
}

// Starts a program as a user other than root, which PostgreSQL refuses. It ends with this process.
pid_t start_program(std::vector<std::string> words, const fs::path& log) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t process = ::fork();
  if (process != 0) return process;
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::getuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

int code_of(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

}  // namespace

PostgresServer::PostgresServer() : programs_(find_programs()) {
  if (programs_.empty()) {
    absence_ = "no PostgreSQL server is installed (Debian's postgresql)";
    return;
  }
  if (::getuid() == 0 && ::chown(folder_.path().c_str(), kNobody, kNobody) != 0) {
    absence_ = "root cannot give a folder to nobody here";
    return;
  }
  const int code =
      code_of(start_program({programs_ / "initdb", "-D", folder_.path() / "data", "-A", "trust",
                             "-U", "hone", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"},
                            folder_.path() / "initdb.log"));
  HONE_ASSERT(code == 0, "initdb failed: {}", read_file(folder_.path() / "initdb.log"));
  start();
}

PostgresServer::~PostgresServer() {
  if (process_ < 0) return;
  ::kill(process_, SIGQUIT);
  code_of(process_);
}

std::string PostgresServer::address(const fs::path& socket_folder, const std::string& database) {
  return fmt::format("postgresql://hone@/{}?host={}", database, socket_folder.string());
}
std::string PostgresServer::address(const std::string& database) const {
  return address(folder_.path(), database);
}

void PostgresServer::kill() {
  ::kill(process_, SIGKILL);
  code_of(process_);
  process_ = -1;
}

void PostgresServer::start() {
  const fs::path log = folder_.path() / "server.log";
  // Processes of a killed server may hold its memory for a moment.
  for (int attempt = 0; attempt < 100; ++attempt) {
    process_ = start_program({programs_ / "postgres", "-D", folder_.path() / "data", "-k",
                              folder_.path(), "-c", "listen_addresses=", "-c", "fsync=off"},
                             log);
    for (;;) {
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) == process_) break;
      const pid_t ready =
          start_program({programs_ / "pg_isready", "-q", "-h", folder_.path()}, log);
      if (code_of(ready) == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  HONE_ASSERT(false, "the server does not start: {}", read_file(log));
}

void PostgresServer::execute(const std::string& sql) const {
  const fs::path log = folder_.path() / "psql.log";
  const int code =
      code_of(start_program({programs_ / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h",
                             folder_.path(), "-U", "hone", "-d", "postgres", "-c", sql},
                            log));
  EXPECT_EQ(code, 0) << read_file(log);
}

}  // namespace hone::testing
