#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/report/table.h"

/// Measures how far common benchmarking mistakes, each alone, change the measured latency of inference.
namespace hone {

struct NaiveJob {
  BenchJob work = {};  ///< inference
  std::int64_t rounds =
      50;  ///< in turn, of mistakes that change the run; `kFewestForMedianInterval` at least
};

/// One mistake, and the latency measured with it. `why_not` says why it was not measured; empty: it was.
struct NaiveMistake {
  std::string name;  ///< "training mode"
  std::string what;  ///< what is done differently
  std::string why_not = {};
  double ms = 0;     ///< measured with it, median of all tries
  double ratio = 1;  ///< of `ms` to the correct latency; above 1: too slow
  Interval ratio_interval = {
      1,
      1};  ///< 95% of the median; of "n = 5" from the 2.5th to the 97.5th percentile of single tries
  std::int64_t tries = 0;
};

struct NaiveTimes {
  std::string what, device;
  int threads = 0;
  std::int64_t tokens = 0;  ///< of each example
  double honest_ms = 0;     ///< the correct latency: the median of warm runs, nothing else timed
  Interval honest_interval = {};
  std::int64_t rounds = 0;
  std::vector<NaiveMistake> mistakes = {};
};

struct NaiveResult : JobResult {
  NaiveTimes times;
};

/// Measures all mistakes with the session's own executor. Throws `UserError` as `bench`, and for a training step; `Interrupted`.
NaiveResult bench_naive(const NaiveJob& job, Context& context);

/// Reads the times back from the `fields` of a result.
NaiveTimes naive_times_of(const Json& fields);
/// A row for the correct latency, and one for each mistake.
Table naive_table(const NaiveTimes& times);

}  // namespace hone
