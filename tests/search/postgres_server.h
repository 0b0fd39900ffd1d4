#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "tests/support/expect.h"

namespace hone::testing {

/// A private PostgreSQL server on a socket in a temporary folder, without a network and without Debian's own cluster.
/// It stops with the object.
class PostgresServer {
 public:
  PostgresServer();
  ~PostgresServer();

  /// Returns why the server is missing, for example because its programs are not installed, or "".
  const std::string& absence() const { return absence_; }
  /// Returns the address of a database, by a socket in the given folder.
  static std::string address(const fs::path& socket_folder, const std::string& database);
  std::string address(const std::string& database = "postgres") const;
  fs::path socket() const { return folder_.path() / ".s.PGSQL.5432"; }

  /// Kills the server like `kill -9`. Servers also stop with the thread that starts them.
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
