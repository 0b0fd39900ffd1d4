#pragma once

#include "hone/cli/command.h"

namespace hone {

/// Rejects outputs that would damage the command's inputs. Throws `UserError` if an output of `app` is or contains an
/// input, is inside a folder of a model, of data or of a run, or would match the glob of the data. Inputs are the
/// values of options that read: models also by their place in the hub's cache, data with all their files. Links are
/// resolved. Called before the command does anything.
void check_outputs(const CommandApp& app);

}  // namespace hone
