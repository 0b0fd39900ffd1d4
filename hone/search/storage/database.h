#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A connection to a database of SQL, and the little in which databases differ.
namespace hone {

/// A value that a statement is given for one of its $1, $2, …
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

/// A row of an answer while it is looked at. Columns count from 0.
class SqlRow {
 public:
  virtual ~SqlRow() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  /// Lives as long as the row is looked at. "" where there is nothing.
  virtual std::string_view text(int column) const = 0;
};

/// What databases say in words of their own.
struct SqlDialect {
  bool has_types = false;            ///< enumerations, SERIAL keys; otherwise as SQLite has types
  std::string lock_row = {};         ///< ends a query for a row that nobody else is to change
  std::string lock_free_row = {};    ///< the same, passing over rows that somebody else has locked
  std::string lock_tables = {};      ///< a query that one transaction at a time gets through
  std::string heartbeat_age = {};    ///< of `heartbeat`, in seconds by the database's clock
  std::string upgrade_address = {};  ///< what `optuna storage upgrade --storage` is given
};

enum class SqlAccess : std::uint8_t { read, write };

class Database {
 public:
  virtual ~Database() = default;
  /// As people know it, without secrets: opens messages.
  virtual const std::string& name() const = 0;
  virtual const SqlDialect& dialect() const = 0;

  /// Runs `body` as one transaction: all of it is written when this returns, nothing when it throws. Reading sees one
  /// state of the database throughout. `body` may run several times, so it begins its results anew. Where the server was lost before it said whether
  /// the last time was written, `is_written` looks, in a transaction, for what `body` meant to leave; null: it may be written twice.
  virtual void transact(SqlAccess access, const std::function<void()>& body,
                        const std::function<bool()>& is_written = {}) = 0;
  /// One statement of a transaction's. Throws `UserError`, also for what a constraint of a table forbids.
  virtual void run(const std::string& sql, const std::vector<SqlValue>& values = {},
                   const std::function<void(const SqlRow&)>& visit = {}) = 0;

  /// Whether nothing stands in it that new tables would come to stand beside. To be asked in a transaction.
  virtual bool is_empty() = 0;
  /// Ends its use. Nothing but the destructor may follow.
  virtual void close() = 0;
};

}  // namespace hone
