#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/report/table.h"

/// What each mistake of a naive measurement of inference costs, one by one beside the honest figure.
namespace hone {

struct NaiveJob {
  BenchJob work = {};  ///< inference
  std::int64_t rounds =
      50;  ///< in turn, of what is another run; `kFewestForMedianInterval` at least
};

/// One mistake: what would have been told in place of the honest figure. Where it was not made, `why_not` says why.
struct NaiveMistake {
  std::string name;  ///< "training mode"
  std::string what;  ///< what is done otherwise
  std::string why_not = {};
  double ms = 0;     ///< what it tells, the middle of what it told in all tries
  double ratio = 1;  ///< of what it tells to the honest figure; above 1: too slow
  Interval ratio_interval = {
      1,
      1};  ///< 95% of the middle; of "n = 5" from the 2.5th to the 97.5th percent of single tries
  std::int64_t tries = 0;
};

struct NaiveTimes {
  std::string what, device;
  int threads = 0;
  std::int64_t tokens = 0;  ///< of each example
  double honest_ms = 0;     ///< the middle of warm runs, nothing else timed
  Interval honest_interval = {};
  std::int64_t rounds = 0;
  std::vector<NaiveMistake> mistakes = {};
};

struct NaiveResult {
  NaiveTimes times;
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Measures all of them with the session's own executor. Throws `UserError` as `bench`, and for a training step; `Interrupted`.
NaiveResult bench_naive(const NaiveJob& job, Context& context);

/// Of the keys that `bench_naive` gives.
NaiveTimes naive_times_of(const Json& fields);
/// A row for the honest figure, and one for each mistake.
Table naive_table(const NaiveTimes& times);

}  // namespace hone
