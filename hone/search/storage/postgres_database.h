#pragma once

#include <memory>
#include <string>

#include "hone/search/storage/database.h"

namespace hone {

/// Whether `where` is the address of a PostgreSQL server.
bool is_postgres_address(const std::string& where);

/// A database of a PostgreSQL server (10 or later), by libpq: its address is postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE, environment variables (PGHOST, …)
/// stand for what it leaves out, and SQLAlchemy's names of drivers (postgresql+psycopg2://) are passed over. Throws `UserError`: no such server, no right, a password in the address,
/// which is not shown then; it belongs into a service file, PGPASSFILE or PGPASSWORD.
///
/// A server that goes away, as by a restart, is waited for for a minute, and the transaction is run again if it was not written. A transaction
/// whose COMMIT was not sent has never happened. Of one whose COMMIT was sent and not answered the server is asked by its
/// number, until it no longer runs, and then `is_written` looks: so what may not be done twice happens once.
std::unique_ptr<Database> open_postgres(const std::string& where);

}  // namespace hone
