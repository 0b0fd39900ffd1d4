#include "hone/search/storage/sqlite_database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>

#include "hone/base/error.h"
#include "hone/base/written_files.h"
#include "hone/search/storage/storage.h"

namespace hone {
namespace {

// Enough for the longest transaction on a slow disk; Optuna waits as long.
constexpr int kBusySeconds = 30;

[[noreturn]] void fail_sqlite(const std::string& name, int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(
          "{}: database is locked: another program has locked it for {} seconds; this "
          "step was not stored; end that program, or try again",
          name, kBusySeconds);
    case SQLITE_FULL:
      fail(
          "{}: the disk is full; this step was not stored, and earlier data is intact; "
          "free some space and continue",
          name);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      fail(
          "{}: no permission to write it; change the permissions of the file and its "
          "folder, or copy it",
          name);
    case SQLITE_NOTADB:
      fail(
          "{}: not an SQLite file; expected a storage written by hone or Optuna, or a "
          "new name",
          name);
    case SQLITE_CORRUPT:
      fail("{}: the file is damaged ({}); `sqlite3 FILE .recover` saves what can be read", name,
           message);
    case SQLITE_CANTOPEN:
      fail("{}: it cannot be opened ({}); expected a file in an existing, writable folder", name,
           message);
    default:
      fail("{}: {}", name, message);
  }
}

class SqliteRow final : public SqlRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_, column);
  }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string_view text(int column) const override {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr
               ? std::string_view()
               : std::string_view(
                     text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  sqlite3_stmt* statement_;
};

int bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return sqlite3_bind_int64(statement, at, *whole);
  if (const auto* real = std::get_if<double>(&value))
    return sqlite3_bind_double(statement, at, *real);
  if (const auto* text = std::get_if<std::string>(&value))
    return sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  return sqlite3_bind_null(statement, at);
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(fs::path path, bool may_create) : path_(std::move(path)), name_(path_.string()) {
    dialect_.heartbeat_age = "(julianday('now') - julianday(heartbeat)) * 86400";
    dialect_.upgrade_address = "sqlite:///" + name_;
    if (may_create)  // including SQLite's auxiliary files, also for other processes that open it
      for (const char* ending : {"", "-journal", "-wal", "-shm"})
        claim_file(fs::path(path_) += ending);
    connect(may_create ? SQLITE_OPEN_CREATE : 0);
  }
  ~SqliteDatabase() override {
    try {
      close();
    } catch (const Error&) {
      // Call close() to get errors.
    }
    disconnect();
  }

  const std::string& name() const override { return name_; }
  const SqlDialect& dialect() const override { return dialect_; }

  // `is_written` is not needed: a commit to a file never remains unconfirmed.
  void transact(SqlAccess access, const std::function<void()>& body,
                const std::function<bool()>& /*is_written*/ = {}) override {
    HONE_ASSERT(database_ != nullptr, "{} is closed", name_);
    if (access == SqlAccess::write && !writes_) prepare_writing();
    run(access == SqlAccess::write ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      body();
      run("COMMIT");
    } catch (...) {
      // Some failures have already rolled back.
      if (sqlite3_get_autocommit(database_) == 0)
        sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  void run(const std::string& sql, const std::vector<SqlValue>& values,
           const std::function<void(const SqlRow&)>& visit) override {
    sqlite3_stmt* statement = prepared(sql);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int at = sqlite3_bind_parameter_index(statement, fmt::format("${}", i + 1).c_str());
      check(bind(statement, at, values[i]));
    }
    int code = SQLITE_ROW;
    try {
      while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (visit) visit(SqliteRow(statement));
    } catch (...) {
      sqlite3_reset(statement);
      throw;
    }
    const std::string message = code == SQLITE_DONE ? "" : sqlite3_errmsg(database_);
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) fail_sqlite(name_, code, message);
  }
  void run(const std::string& sql) { run(sql, {}, {}); }

  // Checks the size of the file, because within a write transaction an empty file already has a page.
  bool is_empty() override {
    bool has_tables = false;
    run("SELECT 1 FROM sqlite_master LIMIT 1", {}, [&](const SqlRow&) { has_tables = true; });
    std::error_code error;
    return !has_tables && fs::file_size(path_, error) == 0;
  }

  void close() override {
    if (database_ == nullptr) return;
    if (writes_) leave_log();
    disconnect();
  }

 private:
  void connect(int more_flags) {
    try {
      check(sqlite3_open_v2(path_.c_str(), &database_,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | more_flags, nullptr));
      sqlite3_busy_timeout(database_, kBusySeconds * 1000);
      run("PRAGMA foreign_keys=ON");  // the first read of the file: fails if it is no database
      run("PRAGMA synchronous=NORMAL");
    } catch (...) {
      disconnect();
      throw;
    }
  }
  void disconnect() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    statements_.clear();
    sqlite3_close(database_);
    database_ = nullptr;
  }
  void check(int code) {
    if (code != SQLITE_OK) fail_sqlite(name_, code, sqlite3_errmsg(database_));
  }

  sqlite3_stmt* prepared(const std::string& sql) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second;
    // Statements that list trial ids are all different.
    constexpr std::size_t kMostStatements = 100;
    if (statements_.size() >= kMostStatements) {
      for (const auto& [text, statement] : statements_) sqlite3_finalize(statement);
      statements_.clear();
    }
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr));
    statements_[sql] = statement;
    return statement;
  }

  // A new file gets its tables first, so that others see either an empty file or all tables.
  void prepare_writing() {
    if (sqlite3_db_readonly(database_, "main") == 1) fail_sqlite(name_, SQLITE_READONLY, "");
    bool is_new = false;
    transact(SqlAccess::read, [&] { is_new = is_empty(); });
    if (is_new) return;
    writes_ = true;
    // If another program reads permanently, the mode stays as it is: slower, and equally safe.
    if (!is_on_network_file_system(path_)) set_journal_mode("WAL", 2000);
  }

  bool set_journal_mode(const char* mode, int busy_milliseconds) {
    sqlite3_busy_timeout(database_, busy_milliseconds);
    const int code = sqlite3_exec(database_, fmt::format("PRAGMA journal_mode={}", mode).c_str(),
                                  nullptr, nullptr, nullptr);
    const std::string message = sqlite3_errmsg(database_);
    sqlite3_busy_timeout(database_, kBusySeconds * 1000);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) fail_sqlite(name_, code, message);
    return code == SQLITE_OK;
  }

  // Moves all data from the log into the file, which is then complete even if a reader keeps the log open. A plain
  // file, which every program can open (SQLite in some browsers supports no log), requires that nobody else has it
  // open. Two programs that close at once block each other, so each closes first and retries a little later.
  void leave_log() {
    writes_ = false;
    // Busy: a permanent reader keeps all data in the log, which other programs read, too.
    sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (set_journal_mode("DELETE", 0)) return;
      disconnect();
      std::this_thread::sleep_for(
          std::chrono::milliseconds((::getpid() * 31 + attempt * 17) % 23 + 1));
      if (!fs::exists(path_)) return;
      connect(0);
    }
  }

  fs::path path_;
  std::string name_;
  SqlDialect dialect_;
  sqlite3* database_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
  bool writes_ = false;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const fs::path& path, bool may_create) {
  user_check(!path.empty(), "a storage is the path of a file or the address of a server, got none");
  user_check(!is_folder(path), "{}: expected a file, this is a folder", path.string());
  // Absolute, because SQLite gives some names a special meaning.
  return std::make_unique<SqliteDatabase>(fs::absolute(path).lexically_normal(), may_create);
}

void copy_sqlite(const fs::path& path, const fs::path& copy) {
  const std::unique_ptr<Database> database = open_sqlite(path, /*may_create=*/false);
  database->run("VACUUM INTO $1", {fs::absolute(copy).string()});
}

}  // namespace hone
