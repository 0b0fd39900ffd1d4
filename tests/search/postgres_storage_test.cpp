#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hone/search/storage/storage.h"
#include "hone/search/storage/tables.h"
#include "tests/search/postgres_server.h"
#include "tests/search/storage_checks.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

#define HONE_NEED(server) \
  if (!(server).absence().empty()) GTEST_SKIP() << (server).absence()

TEST(PostgresStorage, KeepsWhatAFileKeeps) {
  const PostgresServer server;
  HONE_NEED(server);
  const OpenStorage open = [address = server.address()] { return open_storage(address); };
  check_keeps_trials_of_every_kind(open);
  check_runs_a_trial_from_claim_to_end(open);
  check_writes_nothing_to_finished_trials(open);
  check_keeps_pointers_to_what_is_finished(open);
  check_knows_who_is_silent(open);
  check_keeps_studies_apart(open);
  check_begins_studies_whole(open);
  check_takes_names_of_512_characters(open);
  check_claims_once(open, 4, 40, 5);
  check_loses_only_what_a_killed_worker_ran(open, 3);
}

TEST(PostgresStorage, LongIsClaimedFromOnceByEightProcesses) {
  const PostgresServer server;
  HONE_NEED(server);
  check_claims_once([&] { return open_storage(server.address()); }, 8, 800, 100);
}

// Returns the statements of a dump that create something, without spaces and quotes.
std::set<std::string> made_by(const std::vector<std::string>& statements) {
  std::set<std::string> made;
  for (const std::string& statement : statements) {
    std::string text;
    for (const char c : statement)
      if (c != '"' && !std::isspace(static_cast<unsigned char>(c))) text += c;
    // TIMESTAMP means TIMESTAMP WITHOUT TIME ZONE.
    for (std::size_t at; (at = text.find("WITHOUTTIMEZONE")) != std::string::npos;)
      text.erase(at, std::strlen("WITHOUTTIMEZONE"));
    made.insert(text);
  }
  return made;
}

TEST(PostgresStorage, HasTheTablesThatOptunaMakes) {
  const std::string dump = read_file(test_data() / "vectors/search/optuna_schema_4.9_postgres.sql");
  std::vector<std::string> statements;
  std::size_t at = dump.find("CREATE");
  while (at != std::string::npos) {
    const std::size_t end = dump.find(";\n", at);
    statements.push_back(dump.substr(at, end - at));
    at = dump.find("CREATE", end);
  }
  SqlDialect dialect;
  dialect.has_types = true;
  EXPECT_EQ(made_by(table_statements(dialect)), made_by(statements));
}

TEST(PostgresStorage, OutlivesAServerThatIsKilledAndRestarted) {
  PostgresServer server;
  HONE_NEED(server);
  const auto storage = open_storage(server.address());
  const std::int64_t study = storage->create_study("restart", {Direction::minimize}).id;
  std::atomic<bool> ends = false;
  std::vector<Trial> written;
  std::thread worker([&] {
    std::vector<std::shared_ptr<const Trial>> read;
    try {
      while (!ends) {
        written.push_back(storage->create_trial(study, {}));
        storage->write(written.back().id, {.parameters = {{"x", real_values(0, 1), 0.5}}});
        storage->read_trials(study, read);
        storage->finish(written.back().id, {.values = {0.25}});
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 37 * i));
    server.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server.start();
  }
  ends = true;
  worker.join();
  const std::vector<Trial> trials = all_trials(*storage, "restart");
  ASSERT_EQ(trials.size(), written.size()) << "each is made once";
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].id, written[i].id);
    EXPECT_EQ(trials[i].number, static_cast<std::int64_t>(i));
    EXPECT_EQ(trials[i].state, TrialState::complete);
    EXPECT_EQ(trials[i].parameters.size(), 1u);
  }
}

TEST(PostgresStorage, LongWaitsAMinuteForAServer) {
  PostgresServer server;
  HONE_NEED(server);
  const auto storage = open_storage(server.address());
  server.kill();
  expect_user_error("the server has been unreachable for 60 seconds",
                    [&] { storage->create_study("a", {Direction::minimize}); });
  server.start();
  storage->create_study("a", {Direction::minimize});
  EXPECT_EQ(storage->studies().size(), 1u);
}

// A proxy to the server that drops the connection at the next COMMIT: before the server receives it, or after it has
// answered, so that the answer is lost.
class DroppingProxy {
 public:
  explicit DroppingProxy(const fs::path& server) : server_(server) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(folder_.path() / ".s.PGSQL.5432");
    HONE_ASSERT(
        ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
            ::listen(listener_, 8) == 0,
        "no socket");
    thread_ = std::thread([this] { serve(); });
  }
  ~DroppingProxy() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const fs::path& folder() const { return folder_.path(); }
  void drop_before_commit() { drop_ = 1; }
  void drop_after_commit() { drop_ = 2; }
  bool has_dropped() const { return drop_ == 0; }

 private:
  static sockaddr_un address_of(const fs::path& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }

  // Serves one connection after the other, until the listener is closed.
  void serve() {
    for (int client; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un address = address_of(server_);
      if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        while (pass_on(client, server)) {
        }
      ::close(server);
      ::close(client);
    }
  }

  bool pass_on(int client, int server) {
    pollfd waits[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {listener_, POLLIN, 0}};
    ::poll(waits, 2, -1);
    char bytes[65536];
    for (const auto& [from, to] : {std::pair(0, server), std::pair(1, client)}) {
      if (waits[from].revents == 0) continue;
      const ssize_t count = ::read(waits[from].fd, bytes, sizeof bytes);
      if (count <= 0) return false;
      const bool commits =
          from == 0 && std::string_view(bytes, static_cast<std::size_t>(count)).find("COMMIT") !=
                           std::string_view::npos;
      const int drop = commits ? drop_.exchange(0) : 0;
      if (drop == 1) return false;
      if (::write(to, bytes, static_cast<std::size_t>(count)) != count) return false;
      if (drop == 2)
        return ::read(server, bytes, sizeof bytes) < 0;  // reads the answer and discards it
    }
    return true;
  }

  fs::path server_;
  TemporaryFolder folder_;
  int listener_ = -1;
  std::atomic<int> drop_ = 0;
  std::thread thread_;
};

TEST(PostgresStorage, WritesOnceWhereTheAnswerToACommitIsLost) {
  const PostgresServer server;
  HONE_NEED(server);
  DroppingProxy proxy(server.socket());
  const auto storage = open_storage(PostgresServer::address(proxy.folder(), "postgres"));
  const std::int64_t study = storage->create_study("lost", {Direction::minimize}).id;
  std::int64_t number = 0;
  for (const bool after : {false, true}) {
    const auto drop = [&] { after ? proxy.drop_after_commit() : proxy.drop_before_commit(); };
    drop();
    const Trial trial = storage->create_trial(study, {});
    EXPECT_TRUE(proxy.has_dropped());
    EXPECT_EQ(trial.number, number++);
    drop();
    storage->finish(trial.id, {.values = {0.5}});
    EXPECT_TRUE(proxy.has_dropped());
    Trial waiting;
    waiting.state = TrialState::waiting;
    EXPECT_EQ(storage->create_trial(study, waiting).number, number++);
    // The first COMMIT ends the check for waiting trials.
    drop();
    EXPECT_EQ(storage->claim_waiting(study).value().number, number - 1);
    EXPECT_TRUE(proxy.has_dropped());
    drop();
    EXPECT_EQ(storage->create_study(after ? "after" : "before", {Direction::minimize}).name,
              after ? "after" : "before");
    EXPECT_TRUE(proxy.has_dropped());
  }
  const std::vector<Trial> trials = all_trials(*storage, "lost");
  ASSERT_EQ(trials.size(), 4u);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].id, trials[0].id + trials[i].number);
    EXPECT_EQ(trials[i].state, i % 2 == 0 ? TrialState::complete : TrialState::running);
  }
}

TEST(PostgresStorage, RefusesAnAddressWithAPasswordAndDoesNotShowIt) {
  for (const char* address :
       {"postgresql://me:s3cret@localhost/db", "postgres://me:s3cret@/db",
        "postgresql+psycopg2://me:s3cret@localhost/db", "postgresql://localhost/db?password=s3cret",
        "postgresql://localhost/db?pass%77ord=s3cret",
        "postgresql://localhost/db?sslpassword=s3cret"}) {
    const std::string message = user_error_of([&] { open_storage(address); });
    EXPECT_NE(message.find("contains a password"), std::string::npos) << message;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  }
  for (const char* address :
       {"postgresql://me:s3cret%zz@localhost/db", "postgresql://localhost/db?passwort=s3cret",
        "postgresql://me:s3cret@[::1/db"}) {
    const std::string message = user_error_of([&] { open_storage(address); });
    EXPECT_NE(message.find("cannot be read; expected postgresql://"), std::string::npos) << message;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  }
  expect_user_error("postgresql:///db?host=/no/such/folder: cannot connect: ",
                    [] { open_storage("postgresql://me@/db?host=/no/such/folder"); });
}

TEST(PostgresStorage, RefusesADatabaseOfSomethingElse) {
  const PostgresServer server;
  HONE_NEED(server);
  expect_user_error("cannot connect: ", [&] { open_storage(server.address("nothing")); });
  expect_user_error("it is empty", [&] { open_storage(server.address(), true); });
  server.execute("CREATE TABLE trials (judge TEXT)");
  expect_user_error("this database has no tables of studies",
                    [&] { open_storage(server.address()); });
  server.execute("DROP TABLE trials");
  EXPECT_TRUE(open_storage(server.address())->studies().empty());
  server.execute("UPDATE alembic_version SET version_num = 'v3.0.0.d'");
  expect_user_error("`optuna storage upgrade --storage postgresql:///postgres?host=",
                    [&] { open_storage(server.address()); });
}

}  // namespace
}  // namespace hone::testing
