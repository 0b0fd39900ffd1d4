#pragma once

#include "hone/base/file.h"

namespace hone {

/// Copies the SQLite file `storage` to `copy` for Optuna 3.0 and 3.1: with the same tables but their version, which
/// later ones reject. Throws `UserError` if `copy` exists, or if `storage` is no file of studies.
void export_for_optuna_3_1(const fs::path& storage, const fs::path& copy);

}  // namespace hone
