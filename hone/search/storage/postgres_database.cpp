#include "hone/search/storage/postgres_database.h"

#include <libpq-fe.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <thread>

#include "hone/base/error.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;
using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

constexpr std::chrono::seconds kPatience(60);
constexpr std::chrono::milliseconds kPause(200);
constexpr int kMostConflicts = 20;

// The server is gone or shutting down. Never escapes from `transact`.
class ConnectionLost : public Error {
  using Error::Error;
};
// Two transactions conflicted; this one is rolled back.
class Conflict : public Error {
  using Error::Error;
};

// libpq's messages end in a newline, and may have several lines.
std::string line_of(const char* message) {
  std::string line(trim(message == nullptr ? "" : message));
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line.empty() ? "no reason given" : line;
}

class PostgresRow final : public SqlRow {
 public:
  PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
  bool is_null(int column) const override { return PQgetisnull(result_, row_, column) != 0; }
  std::int64_t integer(int column) const override { return number<std::int64_t>(column); }
  double real(int column) const override { return number<double>(column); }
  std::string_view text(int column) const override {
    return {PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(PQgetlength(result_, row_, column))};
  }

 private:
  template <typename Number>
  Number number(int column) const {
    Number value = {};
    const std::string_view digits = text(column);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  const PGresult* result_;
  int row_;
};

// Formats numbers as the shortest text that reads back the same; the server knows the types of columns.
std::optional<std::string> text_of(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(std::string address)
      : address_(std::move(address)), connection_(nullptr, &PQfinish) {
    connection_ = connect();
    const bool by_socket = std::string_view(PQhost(connection_.get())).starts_with('/');
    name_ = by_socket ? fmt::format("postgresql:///{}?host={}", PQdb(connection_.get()),
                                    PQhost(connection_.get()))
                      : fmt::format("postgresql://{}:{}/{}", PQhost(connection_.get()),
                                    PQport(connection_.get()), PQdb(connection_.get()));
    user_check(PQstatus(connection_.get()) == CONNECTION_OK,
               "{}: cannot connect: {}; check the address, and that a server runs there", name_,
               line_of(PQerrorMessage(connection_.get())));
    dialect_.has_types = true;
    dialect_.lock_row = " FOR UPDATE";
    dialect_.lock_free_row = " FOR UPDATE SKIP LOCKED";
    dialect_.lock_tables = "SELECT pg_advisory_xact_lock(1752132453)";  // "hone"
    // Heartbeats are in the time zone of the session, as in Optuna.
    dialect_.heartbeat_age = "EXTRACT(EPOCH FROM LOCALTIMESTAMP - heartbeat)";
    dialect_.upgrade_address = name_;
    prepare_session();
  }

  const std::string& name() const override { return name_; }
  const SqlDialect& dialect() const override { return dialect_; }

  void transact(SqlAccess access, const std::function<void()>& body,
                const std::function<bool()>& is_written = {}) override {
    HONE_ASSERT(connection_ != nullptr, "{} is closed", name_);
    for (int conflicts = 0;;) {
      std::string number;  // of the transaction, set before its COMMIT is sent
      try {
        const std::string started = begin(access);
        body();
        number = started;
        command("COMMIT");
        return;
      } catch (const ConnectionLost& lost) {
        wait_for_server(lost.what());
        if (!number.empty() && is_written && may_have_happened(number)) {
          bool written = false;
          transact(SqlAccess::read, [&] { written = is_written(); });
          if (written) return;
        }
      } catch (const Conflict& conflict) {
        roll_back();
        user_check(++conflicts < kMostConflicts, "{}: {}; this step was not stored", name_,
                   conflict.what());
      } catch (...) {
        roll_back();
        throw;
      }
    }
  }

  void run(const std::string& sql, const std::vector<SqlValue>& values,
           const std::function<void(const SqlRow&)>& visit) override {
    std::vector<std::optional<std::string>> texts;
    for (const SqlValue& value : values) texts.push_back(text_of(value));
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);
    const Result result(
        PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                     pointers.data(), nullptr, nullptr, 0),
        &PQclear);
    check(result.get());
    if (!visit) return;
    for (int row = 0; row < PQntuples(result.get()); ++row) visit(PostgresRow(result.get(), row));
  }

  bool is_empty() override {
    bool empty = true;
    run("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename IN "
        "('studies', 'trials', 'version_info', 'alembic_version')",
        {}, [&](const SqlRow&) { empty = false; });
    return empty;
  }

  void close() override { connection_.reset(); }

 private:
  // Returns a connection, which may have failed.
  Connection connect() const {
    // Later keywords win, so options in the address override the defaults before it. tcp_user_timeout gives up a
    // silent host after the time that we wait for a server.
    const char* const names[] = {"connect_timeout",           "tcp_user_timeout", "keepalives_idle",
                                 "fallback_application_name", "dbname",           nullptr};
    const char* const values[] = {"10", "60000", "30", "hone", address_.c_str(), nullptr};
    Connection connection(PQconnectdbParams(names, values, /*expand_dbname=*/1), &PQfinish);
    user_check(connection != nullptr, "no memory for a connection");
    return connection;
  }

  void prepare_session() {
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    command("SET client_encoding TO 'UTF8'; SET datestyle TO 'ISO'; SET extra_float_digits TO 1");
  }

  Result command(const char* sql) {
    Result result(PQexec(connection_.get(), sql), &PQclear);
    check(result.get());
    return result;
  }

  void check(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
    const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string state = field == nullptr ? "" : field;
    const char* primary =
        result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const std::string message =
        line_of(primary == nullptr ? PQerrorMessage(connection_.get()) : primary);
    // 57P: the server is shutting down or starting.
    if (PQstatus(connection_.get()) != CONNECTION_OK || state.starts_with("57P") ||
        state.starts_with("08"))
      throw ConnectionLost(message);
    if (state == "40001" || state == "40P01") throw Conflict(message);
    user_check(state != "53100",
               "{}: the server's disk is full ({}); this step was not stored, and earlier "
               "data is intact; free some space and continue",
               name_, message);
    fail("{}: {}", name_, message);
  }

  // Begins a transaction and returns its number if it may write.
  std::string begin(SqlAccess access) {
    if (access == SqlAccess::read) {
      command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return {};
    }
    const Result result = command("BEGIN; SELECT txid_current()");
    return PQgetvalue(result.get(), 0, 0);
  }

  void roll_back() {
    // If this fails, the connection is gone, and the transaction with it.
    const Result ignored(PQexec(connection_.get(), "ROLLBACK"), &PQclear);
  }

  void wait_for_server(const std::string& reason) {
    const Clock::time_point until = Clock::now() + kPatience;
    for (;;) {
      stop_if_interrupted();
      connection_ = connect();
      if (PQstatus(connection_.get()) == CONNECTION_OK) try {
          return prepare_session();
        } catch (const ConnectionLost&) {
          // The server is still shutting down.
        }
      user_check(Clock::now() < until,
                 "{}: the server has been unreachable for {} seconds ({}; now: {}); continue "
                 "when it is back",
                 name_, kPatience.count(), reason, line_of(PQerrorMessage(connection_.get())));
      std::this_thread::sleep_for(kPause);
    }
  }

  // Returns whether a transaction whose COMMIT was sent but not confirmed may be written, once it no longer runs.
  // "committed" is not conclusive: after a crash the server reuses numbers that never reached the disk.
  bool may_have_happened(const std::string& number) {
    const Clock::time_point until = Clock::now() + kPatience;
    while (Clock::now() < until) {
      std::string outcome;
      try {
        run("SELECT CASE WHEN $1::bigint < txid_snapshot_xmax(txid_current_snapshot()) THEN "
            "txid_status($1::bigint) END",
            {number}, [&](const SqlRow& row) { outcome = row.text(0); });
      } catch (const ConnectionLost& lost) {
        wait_for_server(lost.what());
        continue;
      }
      if (outcome != "in progress") return outcome == "committed";
      stop_if_interrupted();
      std::this_thread::sleep_for(kPause);  // its backend has not noticed yet that we are gone
    }
    fail(
        "{}: the connection was lost while a step was being stored, and the server "
        "does not report whether it was; check the study before you continue",
        name_);
  }

  std::string address_;
  std::string name_;
  Connection connection_;
  SqlDialect dialect_;
};

// Removes the driver name of SQLAlchemy from an address.
std::string without_driver(const std::string& where) {
  const std::size_t end = where.find("://");
  const std::size_t plus = where.find('+');
  return plus < end ? where.substr(0, plus) + where.substr(end) : where;
}

// Messages never contain the address: if it cannot be parsed, any part may be a password.
void check_address(const std::string& address) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(address.c_str(), nullptr), &PQconninfoFree);
  user_check(options != nullptr,
             "the address of the PostgreSQL server cannot be read; expected "
             "postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE with options of libpq");
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const std::string_view name = option->keyword;
    user_check(option->val == nullptr || (name != "password" && name != "sslpassword"),
               "the address of the PostgreSQL server contains a password, which others could "
               "see (in process lists, shell histories, reports); remove it and put it into "
               "~/.pgpass (PGPASSFILE), a service file or PGPASSWORD");
  }
}

}  // namespace

bool is_postgres_address(const std::string& where) {
  const std::string address = without_driver(where);
  return address.starts_with("postgresql://") || address.starts_with("postgres://");
}

std::unique_ptr<Database> open_postgres(const std::string& where) {
  const std::string address = without_driver(where);
  check_address(address);
  return std::make_unique<PostgresDatabase>(address);
}

}  // namespace hone
