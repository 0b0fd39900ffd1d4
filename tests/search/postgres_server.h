#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "tests/support/expect.h"

namespace hone::testing {

/// A PostgreSQL server of one's own on a socket in a temporary folder, without a network, and without Debian's own cluster. It ends with the object.
class PostgresServer {
 public:
  PostgresServer();
  ~PostgresServer();

  /// "" where there is a server; otherwise why there is none: the programs are not installed.
  const std::string& absence() const { return absence_; }
  /// The address of a database of it by a socket in another folder than its own.
  static std::string address(const fs::path& socket_folder, const std::string& database);
  std::string address(const std::string& database = "postgres") const;
  fs::path socket() const { return folder_.path() / ".s.PGSQL.5432"; }

  /// As `kill -9` does it. Servers end with the thread that starts them, too.
  void kill();
  void start();
  /// Runs a statement in the database `postgres`.
  void execute(const std::string& sql) const;

 private:
  TemporaryFolder folder_;
  fs::path programs_;
  std::string absence_;
  pid_t process_ = -1;
};

}  // namespace hone::testing
