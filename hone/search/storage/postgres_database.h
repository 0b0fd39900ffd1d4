#pragma once

#include <memory>
#include <string>

#include "hone/search/storage/database.h"

namespace hone {

/// Returns whether `where` is the address of a PostgreSQL server.
bool is_postgres_address(const std::string& where);

/// Opens a database of a PostgreSQL server (10 or later) by libpq. Its address is
/// postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE; environment variables (PGHOST, …) provide missing parts, and
/// SQLAlchemy's driver names (postgresql+psycopg2://) are ignored. Throws `UserError` if there is no such server, for
/// missing permissions, and for a password in the address, which is then not shown; it belongs in a service file,
/// PGPASSFILE or PGPASSWORD.
///
/// If the server goes away, for example to restart, waits for up to a minute and runs the transaction again unless it
/// was written. A transaction whose COMMIT was not sent did not happen. If a COMMIT was sent but not confirmed, asks
/// the server by the transaction's number until it no longer runs, and then `is_written` checks. So an effect that
/// must not be repeated happens exactly once.
std::unique_ptr<Database> open_postgres(const std::string& where);

}  // namespace hone
