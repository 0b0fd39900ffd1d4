#pragma once

#include <string>
#include <vector>

#include "hone/search/storage/database.h"

/// The tables of studies, with the schema and names of Optuna 3.2 to 5.0.
namespace hone {

/// The version that Optuna's tools require.
inline constexpr const char* kTablesVersion = "v3.2.0.a";
/// The version of Optuna 3.0 and 3.1: the same tables without an index.
inline constexpr const char* kOldTablesVersion = "v3.0.0.d";

/// Returns the statements that create the tables, in order.
std::vector<std::string> table_statements(const SqlDialect& dialect);

/// Returns the writer that this program stores in each study it creates: "hone 0.2.0".
std::string writer_name();

/// Creates the tables if the database is empty and `may_create`; otherwise checks that they have the version above.
/// Throws `UserError`, without writing, for a database with other contents, and for tables of another version (naming
/// it, and what to do).
void prepare_tables(Database& database, bool may_create);

}  // namespace hone
