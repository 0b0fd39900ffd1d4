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

/// Everything a job needs: the tables, the threads, the device, and the outputs for progress and messages.
struct Context {
  /// `plugins` are paths of shared libraries that extend the tables. `make_watch` returns the observer of the passes
  /// then available. `choose_device` is called last. Throws `UserError` for a plugin that cannot be loaded.
  explicit Context(int threads, bool quiet = false, const std::vector<std::string>& plugins = {},
                   const std::function<PassWatch(const PassTable&)>& make_watch = {},
                   std::function<void(std::string_view)> message_sink = {},
                   const std::function<void(Context&)>& choose_device = {})
      : library(builtin_library()),
        pool(threads),
        progress(progress_on_stderr(quiet)),
        on_message(std::move(message_sink)) {
    for (const std::string& plugin : plugins) load_plugin(plugin, library);
    if (make_watch) watch = make_watch(library.passes);
    if (choose_device) choose_device(*this);
  }

  Library library;
  ThreadPool pool;
  ProgressOutput progress;
  /// Receives messages while a job runs, one or more lines at a time. Null: messages are dropped.
  std::function<void(std::string_view)> on_message = {};
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

/// Prints "note: …", one line per note, unless the job is quiet.
void print_notes(const Context& context, const std::vector<std::string>& notes);

/// Prints "warning: …", one line per nonempty warning. If this process is a stage of a pipeline, the pipeline
/// receives them, too.
void print_warnings(const Context& context, const std::vector<std::string>& warnings);

}  // namespace hone
