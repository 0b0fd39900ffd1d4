#pragma once

#include "hone/app/data.h"
#include "hone/base/json.h"
#include "hone/tensor/parameter_store.h"

/// What a run is, so that a resumed one is known to be the same.
namespace hone {

/// The settings together with checksums of the contents of model and data: a file may move, but not change.
Json run_identity(const Json& settings, const ParameterStore& parameters,
                  const EncodedSplits& data);

/// Writes the identity of a run that begins into its folder. Of one that is resumed, compares it with what stands
/// there: throws `UserError` that names every difference.
void check_identity(const Json& identity, const fs::path& folder, bool resume);

/// Takes the identity away from the folder of a run that is done.
void remove_identity(const fs::path& folder);

}  // namespace hone
