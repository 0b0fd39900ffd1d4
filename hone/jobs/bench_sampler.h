#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/search/sampler.h"

/// How long a sampler of `hone/search` takes over a trial on this machine, and what it suggests on functions of known shape.
namespace hone {

struct SamplerBenchJob {
  std::string sampler = "tpe";  ///< or random
  TpeProfile profile = TpeProfile::optuna_5;
  std::uint64_t seed = 0;
  bool compatible = false;  ///< Optuna's random numbers
  std::int64_t trials = 1000;
  std::int64_t parameters = 10;  ///< floats from -5 to 5, of what is timed
  std::int64_t runs = 20;        ///< trials that count, behind the others
};

/// What is timed are trials in memory, from making one to telling its value, behind `trials` of the same kind.
struct SamplerTimes {
  double first_ms = 0, min_ms = 0, median_ms = 0;
  Json fields;  ///< what programs read, see `result_of`
  std::string text() const;
};
/// Throws `Interrupted`.
SamplerTimes bench_sampler(const SamplerBenchJob& job);

/// A trial on a test function.
struct SampledTrial {
  std::int64_t number = 0;
  Json params;  ///< external values by name
  double value = 0;

  Json fields() const;
};
/// Runs `trials` trials on a test function (hone/search/test_function.h), minimizing, and tells each. `replay`: of a recorded
/// run, {"params": [{…}], "values": […]}; what was recorded goes into the history in place of what the sampler suggests, and
/// `trials` at most what there are. Throws `UserError` for an unknown function and for a recorded run that is none of it.
void sample_function(const SamplerBenchJob& job, const std::string& function,
                     const fs::path& replay, const std::function<void(const SampledTrial&)>& tell);

}  // namespace hone
