#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A connection to an SQL database, and the few differences between databases.
namespace hone {

/// A parameter of a statement, for $1, $2, …
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

/// A row of a query result during a visit. Columns count from 0.
class SqlRow {
 public:
  virtual ~SqlRow() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  /// Returns the text, valid during the visit; "" for null.
  virtual std::string_view text(int column) const = 0;
};

/// SQL that differs between databases.
struct SqlDialect {
  bool has_types = false;            ///< enumerations, SERIAL keys; otherwise SQLite's types
  std::string lock_row = {};         ///< suffix of a query that locks its row
  std::string lock_free_row = {};    ///< likewise, skips rows that are locked already
  std::string lock_tables = {};      ///< a query that serializes transactions that create tables
  std::string heartbeat_age = {};    ///< age of `heartbeat` in seconds, by the database's clock
  std::string upgrade_address = {};  ///< argument of `optuna storage upgrade --storage`
};

enum class SqlAccess : std::uint8_t { read, write };

class Database {
 public:
  virtual ~Database() = default;
  /// Returns the name for messages, without secrets.
  virtual const std::string& name() const = 0;
  virtual const SqlDialect& dialect() const = 0;

  /// Runs `body` as one transaction: everything is written when this returns, nothing if it throws. Reads see one
  /// consistent state. `body` may run several times, so it must reset its results. If the server is lost before it
  /// confirms a commit, `is_written` checks, in a transaction, whether the effect of `body` is present; null: it may
  /// be written twice.
  virtual void transact(SqlAccess access, const std::function<void()>& body,
                        const std::function<bool()>& is_written = {}) = 0;
  /// Runs one statement within a transaction. Throws `UserError`, also for violated constraints of tables.
  virtual void run(const std::string& sql, const std::vector<SqlValue>& values = {},
                   const std::function<void(const SqlRow&)>& visit = {}) = 0;

  /// Returns whether the database has nothing that new tables would be mixed with. Call it in a transaction.
  virtual bool is_empty() = 0;
  /// Closes the database. Only the destructor may follow.
  virtual void close() = 0;
};

}  // namespace hone
