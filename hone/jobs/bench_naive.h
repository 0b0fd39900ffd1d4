#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/paired_times.h"
#include "hone/report/table.h"

/// Measures how far common benchmarking mistakes, each alone, change the measured latency of inference.
namespace hone {

struct NaiveJob {
  BenchJob work = {};  ///< inference only
  std::int64_t rounds =
      50;  ///< in turn, for mistakes that change the run; at least `kFewestForMedianInterval`
};

/// A mistake and the latency measured with it, or in `why_not` why it was not measured.
struct NaiveMistake {
  std::string name;  ///< "training mode"
  std::string what;  ///< what is done differently
  std::optional<std::string> why_not = {};
  std::optional<double> ms = {};     ///< measured with it, median of all tries
  std::optional<double> ratio = {};  ///< of `ms` to the correct latency; above 1: too slow
  /// 95% interval of the median; for "n = 5" from the 2.5th to the 97.5th percentile of single tries.
  std::optional<Interval> ratio_interval = {};
  std::int64_t tries = 0;
};
const Fields& fields_of(const NaiveMistake*);

/// The result, also as JSON.
struct NaiveTimes {
  TimedWork work = {};
  std::int64_t rounds = 0;
  double correct_ms = 0;  ///< median of warm runs, with nothing else timed
  Interval correct_interval = {};
  std::vector<NaiveMistake> mistakes = {};
};
const Fields& fields_of(const NaiveTimes*);

struct NaiveResult : JobResult {
  NaiveTimes times;
};

/// Measures all mistakes with the session's executor. Throws `UserError` like `bench`, and for a training step;
/// `Interrupted`.
NaiveResult bench_naive(const NaiveJob& job, Context& context);

/// Returns a row for the correct latency and one for each mistake.
Table naive_table(const NaiveTimes& times);

}  // namespace hone
