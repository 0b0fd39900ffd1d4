#pragma once

#include <string>
#include <vector>

#include "hone/base/progress.h"
#include "hone/base/thread_pool.h"
#include "hone/runtime/plugin.h"
#include "hone/runtime/run_passes.h"

namespace hone {

/// What every job works with: the tables, the threads, the device, and where progress is shown.
struct Context {
  /// `plugins` are paths of shared libraries that add to the tables, and `watch_of` says who looks at the passes that are
  /// there then. Throws `UserError` for a plugin that cannot be loaded.
  explicit Context(int threads, bool quiet = false, const std::vector<std::string>& plugins = {},
                   const std::function<PassWatch(const PassTable&)>& watch_of = {})
      : library(builtin_library()), pool(threads), progress(progress_on_stderr(quiet)) {
    for (const std::string& plugin : plugins) load_plugin(plugin, library);
    if (watch_of) watch = watch_of(library.passes);
  }

  Library library;
  ThreadPool pool;
  ProgressOutput progress;
  PassWatch watch = {};
  Device* device = &cpu();  ///< graphs run there

  Session session() {
    return {.library = library, .pool = pool, .device = *device, .watch = &watch};
  }
};

}  // namespace hone
