#pragma once

#include <memory>

#include "hone/base/file.h"
#include "hone/search/storage/database.h"

namespace hone {

/// Opens an SQLite file. Writers use its write-ahead log, in which readers and writers do not block each other,
/// unless the file is on a network file system, where machines cannot share the memory that the log needs. The last
/// to close leaves a single plain file. Reading does not change the file. Throws `UserError` if the folder does not
/// exist, for missing permissions, and if it is no SQLite file; `may_create` creates an empty file if there is none.
std::unique_ptr<Database> open_sqlite(const fs::path& path, bool may_create);

/// Copies the current state of an SQLite file, including its log, to `copy`, which must not exist.
void copy_sqlite(const fs::path& path, const fs::path& copy);

}  // namespace hone
