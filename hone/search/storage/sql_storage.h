#pragma once

#include <memory>

#include "hone/search/storage/database.h"
#include "hone/search/storage/storage.h"

namespace hone {

/// Returns a storage in a database that has the tables of studies (`prepare_tables`). Thread-safe: calls are
/// serialized.
std::unique_ptr<StudyStorage> sql_storage(std::unique_ptr<Database> database);

}  // namespace hone
