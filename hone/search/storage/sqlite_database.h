#pragma once

#include <memory>

#include "hone/base/file.h"
#include "hone/search/storage/database.h"

namespace hone {

/// An SQLite file. Whoever writes works in its write-ahead log, where readers and writers do not wait for each other, unless the file lies where
/// other machines see it: they do not share the memory that such a log needs. The last to close leaves one plain file. What is only read is not
/// changed. Throws `UserError`: no such folder, no right, no SQLite file; `may_create` makes an empty file where there is none.
std::unique_ptr<Database> open_sqlite(const fs::path& path, bool may_create);

/// Copies an SQLite file as it stands, with what its log holds, to `copy`, which must not be there.
void copy_sqlite(const fs::path& path, const fs::path& copy);

}  // namespace hone
