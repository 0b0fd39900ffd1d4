#pragma once

#include "hone/cli/command.h"

namespace hone {

/// Refuses outputs that would harm what the command reads: throws `UserError` when a folder or file that an argument of
/// `app` says to write is or holds an input, or lies in a folder of a model, of data or of a run, or where its name would
/// be one of those that the data's glob stands for. Inputs are what options say is read: models by their place in the hub's cache too, data with every file it stands for; links are resolved. Asked
/// before the command does anything.
void check_outputs(const CommandApp& app);

}  // namespace hone
