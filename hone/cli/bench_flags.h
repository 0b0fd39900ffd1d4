#pragma once

#include "hone/base/options.h"
#include "hone/jobs/bench.h"

/// The variant of a model that `hone bench`, `hone profile` and `hone compile` run.
namespace hone {

struct BenchFlags {
  std::string qat = {}, format = {}, native = {}, lora = {};
};

Options options_of(const BenchFlags*);
/// Stores the flags in `options`. Throws `UsageError` for flags that exclude each other.
void apply_flags(const BenchFlags& flags, const std::string& command, const FormatTable& formats,
                 BenchOptions& options);

}  // namespace hone
