#pragma once

#include <memory>

#include "hone/search/storage/database.h"
#include "hone/search/storage/storage.h"

namespace hone {

/// Studies in a database that has their tables (`prepare_tables`). Threads may share it: they take turns.
std::unique_ptr<StudyStorage> sql_storage(std::unique_ptr<Database> database);

}  // namespace hone
