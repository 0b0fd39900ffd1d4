#pragma once

#include <string_view>
#include <vector>

#include "hone/report/document.h"

namespace hone {

/// Returns the commands with `--device` and `--precision`, unless these are the defaults, so that a reader who follows
/// them stays on the device of the job. Commands that run no model are returned unchanged.
std::vector<NextCommand> on_device(std::vector<NextCommand> commands, std::string_view device,
                                   std::string_view precision);

}  // namespace hone
