#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/call_series.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// How long each call of a model takes, from the first one on, in ways beside each other: what is gained by a way that has
/// more to prepare, and from which call on.
namespace hone {

/// Where calls are timed. Fresh: in processes that have done nothing before, one way in each. Warm: in this one, after all of it was
/// done once; there the ways take turns.
enum class IterationProcess : std::uint8_t {
  both,
  warm,
  own,  ///< this process counts as fresh: one way, from its beginning
};
inline constexpr std::string_view kIterationProcesses[] = {"both", "warm", "this"};

struct IterationsJob {
  BenchJob work = {};
  /// The first is what others are held against. None: all that can be had here.
  std::vector<std::string> ways = {};
  std::int64_t iterations = 50;  ///< calls of each
  /// Calls at the beginning that no middle is taken of; none given: 10, of fewer than 50 calls a fifth.
  std::optional<std::int64_t> ignored = {};
  IterationProcess process = IterationProcess::both;
  std::int64_t processes = 3;  ///< of each way, fresh ones
  /// Command line, behind `hone`, that asks for the same work without these settings; `executor`, `iterations`, `process`
  /// and `json` are put behind it.
  std::vector<std::string> words = {};
  std::string figure = {};  ///< its files, without their endings; empty: none is drawn
  bool overwrite = false;
};

/// One way in the processes it was timed in.
struct WayTimes {
  std::string way;
  std::optional<CallSeries> warm = {};
  std::vector<CallSeries> fresh = {};
  std::vector<double> process_ms =
      {};                       ///< of fresh ones from start to end, reading the model included
  std::int64_t operations = 0;  ///< of its graph
  double moved_bytes = 0;       ///< that they read and write in a call, as if no cache held any
};

struct IterationTimes {
  std::string what, device;
  int threads = 0;
  std::int64_t iterations = 0, ignored = 0;
  std::vector<WayTimes> ways = {};
};

struct IterationsResult {
  IterationTimes times;
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Times a model call by call. Throws `UserError` as `bench`, for unknown or repeated ways, for fewer than two calls, and
/// where a process of its own fails; `Interrupted`.
IterationsResult bench_iterations(const IterationsJob& job, Context& context);

/// Of the keys that `bench_iterations` gives.
IterationTimes iteration_times_of(const Json& fields);

// ---- told

/// A row for each way and process: first call, median with interval, p95, minimum.
Table executor_table(const IterationTimes& times);
/// What the graphs are made of: operations, and the bytes that they read and write.
Table graph_table(const IterationTimes& times);
/// Making ready, stage by stage.
Table stage_table(const IterationTimes& times);
/// Means of n = 5, 20, 100 and all calls, counted in three ways, and what they say against the first way.
Table means_table(const IterationTimes& times);
/// Every other way against the first one, in each kind of process: times as fast, break-even call.
Table comparison_table(const IterationTimes& times);
/// How many times as fast every other way is as the first, call by call and between processes.
std::vector<std::string> comparison_sentences(const IterationTimes& times);
/// The same in sentences, and what was too little to tell.
std::vector<std::string> iteration_sentences(const IterationTimes& times);
/// The time of each call, and the sum since the beginning.
Figure iterations_figure(const IterationTimes& times);

}  // namespace hone
