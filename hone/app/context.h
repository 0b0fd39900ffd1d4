#pragma once

#include <string>
#include <vector>

#include "hone/base/progress.h"
#include "hone/base/thread_pool.h"
#include "hone/runtime/plugin.h"

namespace hone {

/// What every job works with: the tables, the threads, and where progress is shown.
struct Context {
  /// `plugins` are paths of shared libraries that add to the tables. Throws `UserError` for one that
  /// cannot be loaded.
  explicit Context(int threads, bool quiet = false, const std::vector<std::string>& plugins = {})
      : library(builtin_library()), pool(threads), progress(progress_on_stderr(quiet)) {
    for (const std::string& plugin : plugins) load_plugin(plugin, library);
  }

  Library library;
  ThreadPool pool;
  ProgressOutput progress;
};

}  // namespace hone
