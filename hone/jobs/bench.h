#pragma once

#include <optional>
#include <string>

#include "hone/models/model_source.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/peaks.h"

namespace hone {

struct BenchOptions {
  std::int64_t batch = 8;
  std::int64_t tokens = 128;
  bool train = false;  ///< a whole training step with dropout and AdamW; otherwise inference
  std::optional<Format>
      format;             ///< quantizers in front of every linear, for the step or the inference
  std::int64_t runs = 0;  ///< counted runs; 0: 60, or 12 when one takes over 200 ms
};

/// Times of one piece of work, in milliseconds: the first run apart, one not counted, then `runs` runs.
struct BenchResult {
  std::string what;
  std::string format;  ///< of the quantizers in what is timed; empty: there are none
  double first_ms = 0;
  double min_ms = 0;
  double median_ms = 0;
  std::int64_t runs = 0;
  double gflop = 0;  ///< of one run
  /// Of fp32 multiply-adds, in GFLOP/s, on as many threads: the highest of what was measured before the runs, after them,
  /// and ever.
  Peak peak;
  int threads = 0;
  std::map<std::string, KernelTime> kernels;  ///< of the counted runs
  std::vector<std::string> notes;             ///< on the peak
  /// "simulated": quantizers round the values, all else is computed in fp32; or "fp32".
  const char* arithmetic() const { return format.empty() ? "fp32" : "simulated"; }
  double share_of_peak() const { return gflop / (min_ms / 1e3) / peak.value; }
};

/// Times the interpreter on random ids without padding. Throws `UserError` when `options.format` is given for a model that is
/// quantized already.
BenchResult bench(const Model& model, const std::string& name, const BenchOptions& options,
                  Context& context);

}  // namespace hone
