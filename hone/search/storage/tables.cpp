#include "hone/search/storage/tables.h"

#include <array>
#include <charconv>
#include <utility>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr std::int64_t kSchemaVersion = 12;
// Optuna's tools print this as the writer of a file; they know this version.
constexpr const char* kLibraryVersion = "4.9.0";

struct TableText {
  const char* name;
  std::vector<std::string> lines;
};

TableText attributes_of(const char* table, const std::string& owner, const std::string& owners) {
  const std::string owner_key = owner + "_id";
  const std::string own_key =
      std::string(table).substr(0, std::string_view(table).size() - 1) + "_id";
  return {
      table,
      {own_key + " SERIAL NOT NULL", owner_key + " INTEGER", "\"key\" VARCHAR(512)",
       "value_json TEXT", "PRIMARY KEY (" + own_key + ")", "UNIQUE (" + owner_key + ", \"key\")",
       "FOREIGN KEY(" + owner_key + ") REFERENCES " + owners + " (" + owner_key + ")"}};
}

// Uses PostgreSQL's types.
std::vector<TableText> table_texts() {
  const std::string of_study = "FOREIGN KEY(study_id) REFERENCES studies (study_id)";
  const std::string of_trial = "FOREIGN KEY(trial_id) REFERENCES trials (trial_id)";
  return {
      {"studies",
       {"study_id SERIAL NOT NULL", "study_name VARCHAR(512) NOT NULL", "PRIMARY KEY (study_id)"}},
      {"version_info",
       {"version_info_id INTEGER NOT NULL", "schema_version INTEGER",
        "library_version VARCHAR(256)", "PRIMARY KEY (version_info_id)",
        "CHECK (version_info_id=1)"}},
      {"study_directions",
       {"study_direction_id SERIAL NOT NULL", "direction studydirection NOT NULL",
        "study_id INTEGER NOT NULL", "objective INTEGER NOT NULL",
        "PRIMARY KEY (study_direction_id)", "UNIQUE (study_id, objective)", of_study}},
      attributes_of("study_user_attributes", "study", "studies"),
      attributes_of("study_system_attributes", "study", "studies"),
      {"trials",
       {"trial_id SERIAL NOT NULL", "number INTEGER", "study_id INTEGER",
        "state trialstate NOT NULL", "datetime_start TIMESTAMP", "datetime_complete TIMESTAMP",
        "PRIMARY KEY (trial_id)", of_study}},
      attributes_of("trial_user_attributes", "trial", "trials"),
      attributes_of("trial_system_attributes", "trial", "trials"),
      {"trial_params",
       {"param_id SERIAL NOT NULL", "trial_id INTEGER", "param_name VARCHAR(512)",
        "param_value FLOAT(53)", "distribution_json TEXT", "PRIMARY KEY (param_id)",
        "UNIQUE (trial_id, param_name)", of_trial}},
      {"trial_values",
       {"trial_value_id SERIAL NOT NULL", "trial_id INTEGER NOT NULL", "objective INTEGER NOT NULL",
        "value FLOAT(53)", "value_type trialvaluetype NOT NULL", "PRIMARY KEY (trial_value_id)",
        "UNIQUE (trial_id, objective)", of_trial}},
      {"trial_intermediate_values",
       {"trial_intermediate_value_id SERIAL NOT NULL", "trial_id INTEGER NOT NULL",
        "step INTEGER NOT NULL", "intermediate_value FLOAT(53)",
        "intermediate_value_type trialintermediatevaluetype NOT NULL",
        "PRIMARY KEY (trial_intermediate_value_id)", "UNIQUE (trial_id, step)", of_trial}},
      {"trial_heartbeats",
       {"trial_heartbeat_id SERIAL NOT NULL", "trial_id INTEGER NOT NULL",
        "heartbeat TIMESTAMP NOT NULL", "PRIMARY KEY (trial_heartbeat_id)", "UNIQUE (trial_id)",
        of_trial}},
      {"alembic_version",
       {"version_num VARCHAR(32) NOT NULL",
        "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)"}},
  };
}

const char* const kEnumerations[] = {
    "CREATE TYPE studydirection AS ENUM ('NOT_SET', 'MINIMIZE', 'MAXIMIZE')",
    "CREATE TYPE trialstate AS ENUM ('RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING')",
    "CREATE TYPE trialintermediatevaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG', 'NAN')",
    "CREATE TYPE trialvaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG')",
};

// The types of PostgreSQL and Optuna's equivalents in SQLite; an enumeration has the length of its longest name.
constexpr std::pair<std::string_view, std::string_view> kSqliteTypes[] = {
    {" SERIAL", " INTEGER"},
    {" FLOAT(53)", " FLOAT"},
    {" TIMESTAMP", " DATETIME"},
    {" studydirection", " VARCHAR(8)"},
    {" trialstate", " VARCHAR(8)"},
    {" trialintermediatevaluetype", " VARCHAR(7)"},
    {" trialvaluetype", " VARCHAR(7)"},
};

std::string in_dialect(std::string line, const SqlDialect& dialect) {
  if (dialect.has_types) return line;
  for (const auto& [type, sqlite_type] : kSqliteTypes)
    if (const std::size_t at = line.find(type); at != std::string::npos)
      line.replace(at, type.size(), sqlite_type);
  return line;
}

void make_tables(Database& database) {
  for (const std::string& statement : table_statements(database.dialect())) database.run(statement);
  database.run(
      "INSERT INTO version_info (version_info_id, schema_version, library_version) VALUES (1, $1, "
      "$2)",
      {kSchemaVersion, std::string(kLibraryVersion)});
  database.run("INSERT INTO alembic_version (version_num) VALUES ($1)",
               {std::string(kTablesVersion)});
}

// Returns "v3.2.0.a" as numbers that can be compared; zeros if it is no version.
std::array<int, 4> version_numbers(std::string_view text) {
  std::array<int, 4> numbers = {};
  if (!text.starts_with('v')) return {};
  text.remove_prefix(1);
  for (int& number : numbers) {
    const std::size_t end = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, end);
    if (std::from_chars(part.data(), part.data() + part.size(), number).ec != std::errc())
      number = part.empty() ? 0 : part.front();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

void check_version(Database& database) {
  const std::string& name = database.name();
  std::string version, library;
  std::int64_t schema = 0;
  try {
    database.run("SELECT study_id, study_name FROM studies LIMIT 1");
    database.run("SELECT version_num FROM alembic_version", {},
                 [&](const SqlRow& row) { version = row.text(0); });
    database.run("SELECT schema_version, library_version FROM version_info", {},
                 [&](const SqlRow& row) {
                   schema = row.integer(0);
                   library = row.text(1);
                 });
  } catch (const UserError&) {
    fail(
        "{}: this database has no tables of studies; hone leaves it unchanged; use "
        "another name",
        name);
  }
  if (version == kTablesVersion && schema == kSchemaVersion) return;
  user_check(version_numbers(version) > version_numbers(kTablesVersion),
             "{}: its tables are of version '{}' (schema {}, written by Optuna {}), "
             "expected {}; `optuna storage upgrade --storage {}` of Optuna 3.2 or later "
             "upgrades them",
             name, version, schema, library, kTablesVersion, database.dialect().upgrade_address);
  fail(
      "{}: its tables are of version '{}' (schema {}, written by Optuna {}), newer "
      "than {}, which this version of hone supports; copy the study with Optuna 5.0 "
      "(`optuna.copy_study`) into a new storage",
      name, version, schema, library, kTablesVersion);
}

}  // namespace

std::vector<std::string> table_statements(const SqlDialect& dialect) {
  std::vector<std::string> statements;
  if (dialect.has_types) statements.assign(std::begin(kEnumerations), std::end(kEnumerations));
  for (const TableText& table : table_texts()) {
    std::string text = fmt::format("CREATE TABLE {} (", table.name);
    for (std::size_t i = 0; i < table.lines.size(); ++i)
      text += (i == 0 ? "\n\t" : ", \n\t") + in_dialect(table.lines[i], dialect);
    statements.push_back(text + "\n)");
  }
  statements.emplace_back("CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name)");
  statements.emplace_back("CREATE INDEX ix_trials_study_id ON trials (study_id)");
  return statements;
}

std::string writer_name() { return "hone " HONE_VERSION; }

void prepare_tables(Database& database, bool may_create) {
  bool empty = false;
  database.transact(SqlAccess::read, [&] {
    empty = database.is_empty();
    if (!empty) check_version(database);
  });
  if (!empty) return;
  user_check(may_create, "{}: it is empty and contains no study", database.name());
  database.transact(SqlAccess::write, [&] {
    if (!database.dialect().lock_tables.empty()) database.run(database.dialect().lock_tables);
    // Another program may have created them in the meantime.
    if (database.is_empty())
      make_tables(database);
    else
      check_version(database);
  });
}

}  // namespace hone
