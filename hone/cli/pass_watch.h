#pragma once

#include <string>
#include <vector>

#include "hone/base/options.h"
#include "hone/runtime/run_passes.h"

namespace hone {

/// How a person looks at the passes of a command.
struct PassArguments {
  bool show = false;
  std::vector<std::string> skipped;
  std::string dump;  ///< folder
};
Options options_of(const PassArguments*);

/// Tells the standard error stream of each pass, and writes the graph that each leaves to a file of its own. Throws
/// `UserError` for a pass that `passes` does not have, and for a folder that holds something.
PassWatch make_watch(const PassArguments& arguments, const PassTable& passes);

}  // namespace hone
