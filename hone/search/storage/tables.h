#pragma once

#include <string>
#include <vector>

#include "hone/search/storage/database.h"

/// The tables of studies, as Optuna 3.2 to 5.0 makes and names them.
namespace hone {

/// The version that Optuna's tools compare: they refuse any other.
inline constexpr const char* kTablesVersion = "v3.2.0.a";
/// Of Optuna 3.0 and 3.1: the same tables without an index.
inline constexpr const char* kOldTablesVersion = "v3.0.0.d";

/// The statements that make the tables, in their order.
std::vector<std::string> table_statements(const SqlDialect& dialect);

/// What this program says of itself in each study it makes: "hone 0.2.0".
std::string writer_name();

/// Makes the tables where the database is empty and `may_create`; otherwise checks that they are of the version above. Throws `UserError`, and
/// has written nothing then: a database of something else, tables of another version (naming it, and what to do).
void prepare_tables(Database& database, bool may_create);

}  // namespace hone
