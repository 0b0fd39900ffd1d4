#include "hone/search/storage/optuna_export.h"

#include "hone/base/error.h"
#include "hone/search/storage/sqlite_database.h"
#include "hone/search/storage/tables.h"

namespace hone {

void export_for_optuna_3_1(const fs::path& storage, const fs::path& copy) {
  user_check(path_exists(storage), "{}: no such file; expected a storage written by hone",
             storage.string());
  check_output_file(copy, /*overwrite=*/false);
  prepare_tables(*open_sqlite(storage, /*may_create=*/false), /*may_create=*/false);
  // Writes atomically, as write_file does.
  const ScratchFolder scratch(copy);
  const fs::path whole = scratch.path() / "copy.db";
  copy_sqlite(storage, whole);
  {
    const std::unique_ptr<Database> database = open_sqlite(whole, /*may_create=*/false);
    database->transact(SqlAccess::write, [&] {
      database->run("UPDATE alembic_version SET version_num = $1",
                    {std::string(kOldTablesVersion)});
    });
    database->close();
  }
  fs::rename(whole, copy);
}

}  // namespace hone
