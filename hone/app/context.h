#pragma once

#include "hone/base/progress.h"
#include "hone/base/thread_pool.h"
#include "hone/runtime/library.h"

namespace hone {

/// What every job works with: the tables, the threads, and where progress is shown.
struct Context {
  explicit Context(int threads, bool quiet = false)
      : library(builtin_library()), pool(threads), progress(progress_on_stderr(quiet)) {}

  Library library;
  ThreadPool pool;
  ProgressOutput progress;
};

}  // namespace hone
