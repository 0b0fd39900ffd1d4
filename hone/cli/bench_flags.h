#pragma once

#include <CLI/CLI.hpp>

#include "hone/jobs/bench.h"

/// What of a model `hone bench` and `hone profile` run.
namespace hone {

struct BenchFlags {
  std::string qat = {}, format = {}, native = {}, lora = {};
};

void declare(CLI::App& app, BenchFlags& flags, BenchOptions& options);
/// Puts what was given into `options`. Throws `UsageError` for flags that do not go together.
void take(const BenchFlags& flags, const std::string& command, const FormatTable& formats,
          BenchOptions& options);

}  // namespace hone
