#pragma once

#include <string>
#include <vector>

#include "hone/base/options.h"
#include "hone/runtime/run_passes.h"

namespace hone {

/// Options for watching the passes of a command.
struct PassArguments {
  bool show = false;
  std::vector<std::string> skipped;
  std::string dump;  ///< folder
};
Options options_of(const PassArguments*);

/// Returns a watch that reports each pass on the standard error stream and writes the graph after each pass to its own
/// file. Throws `UserError` for an unknown pass and for a folder that is not empty.
PassWatch make_watch(const PassArguments& arguments, const PassTable& passes);

}  // namespace hone
