#pragma once

#include "hone/base/options.h"
#include "hone/jobs/bench.h"

/// What of a model `hone bench` and `hone profile` run.
namespace hone {

struct BenchFlags {
  std::string qat = {}, format = {}, native = {}, lora = {};
};

Options options_of(const BenchFlags*);
/// Puts what was given into `options`. Throws `UsageError` for flags that do not go together.
void take(const BenchFlags& flags, const std::string& command, const FormatTable& formats,
          BenchOptions& options);

}  // namespace hone
