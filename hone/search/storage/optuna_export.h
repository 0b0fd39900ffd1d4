#pragma once

#include "hone/base/file.h"

namespace hone {

/// Copies the SQLite file `storage` to `copy` as one that Optuna 3.0 and 3.1 open: of the same tables but named with their
/// version, which later ones refuse. Throws `UserError`: something is at `copy`, `storage` is no file of studies.
void export_for_optuna_3_1(const fs::path& storage, const fs::path& copy);

}  // namespace hone
