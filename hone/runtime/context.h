#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/progress.h"
#include "hone/base/thread_pool.h"
#include "hone/runtime/plugin.h"
#include "hone/runtime/run_passes.h"

namespace hone {

/// What every job works with: the tables, the threads, the device, and where progress and messages are shown.
struct Context {
  /// `plugins` are paths of shared libraries that add to the tables, and `watch_of` says who looks at the passes that are
  /// there then. `choose_device` is called last. Throws `UserError` for a plugin that cannot be loaded.
  explicit Context(int threads, bool quiet = false, const std::vector<std::string>& plugins = {},
                   const std::function<PassWatch(const PassTable&)>& watch_of = {},
                   std::function<void(std::string_view)> say_to = {},
                   const std::function<void(Context&)>& choose_device = {})
      : library(builtin_library()),
        pool(threads),
        progress(progress_on_stderr(quiet)),
        say(std::move(say_to)) {
    for (const std::string& plugin : plugins) load_plugin(plugin, library);
    if (watch_of) watch = watch_of(library.passes);
    if (choose_device) choose_device(*this);
  }

  Library library;
  ThreadPool pool;
  ProgressOutput progress;
  /// Told what is worth knowing while a job runs, a line or more at a time. Null: nobody is.
  std::function<void(std::string_view)> say = {};
  PassWatch watch = {};
  Device* device = &cpu();  ///< graphs run there
  Executor executor = interpreted;
  DType values = DType::f32;  ///< see `Session`
  TokenSteps token_steps = {};

  Session session() {
    return {.library = library,
            .pool = pool,
            .device = *device,
            .executor = executor,
            .values = values,
            .token_steps = token_steps,
            .watch = &watch};
  }
};

/// "note: …", a line for each of `notes`, unless progress is not wanted either.
void tell_notes(const Context& context, const std::vector<std::string>& notes);

/// "warning: …", a line for each of `warnings`; empty ones are left out. A pipeline whose stage this process is has them, too.
void tell_warnings(const Context& context, const std::vector<std::string>& warnings);

}  // namespace hone
