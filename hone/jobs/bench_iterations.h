#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/call_series.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// Times every call of a model from the first one on, with several executors: what a faster one gains, and after how many calls.
namespace hone {

/// Where calls are timed. Fresh: in new processes, one executor in each. Warm: in this process, after everything was done once; there
/// the executors take turns.
enum class IterationProcess : std::uint8_t {
  both,
  warm,
  own,  ///< this process counts as fresh: one executor, from its start
};
inline constexpr std::string_view kIterationProcesses[] = {"both", "warm", "this"};

struct IterationsJob {
  BenchJob work = {};
  /// Executors; the first is the baseline. None: all that are available.
  std::vector<std::string> ways = {};
  std::int64_t iterations = 50;  ///< calls of each
  /// Calls at the start that no median counts; none given: 10, or a fifth of fewer than 50 calls.
  std::optional<std::int64_t> ignored = {};
  IterationProcess process = IterationProcess::both;
  std::int64_t processes = 3;  ///< fresh ones, for each executor
  /// Command line, behind `hone`, that asks for the same work without these settings; `executor`, `iterations`, `process`
  /// and `json` are put behind it.
  std::vector<std::string> words = {};
  std::string figure = {};  ///< its files, without their endings; empty: none is drawn
  bool overwrite = false;
};

/// One executor in the processes it was timed in.
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

struct IterationsResult : JobResult {
  IterationTimes times;
};

/// Times a model call by call. Throws `UserError` as `bench`, for unknown or repeated ways, for fewer than two calls, and
/// where a process of its own fails; `Interrupted`.
IterationsResult bench_iterations(const IterationsJob& job, Context& context);

/// Reads the times back from the `fields` of a result.
IterationTimes iteration_times_of(const Json& fields);

// ---- the result for people

/// Headline, key figures, tables and findings.
Document iterations_document(const IterationTimes& times);
/// A row for each executor and process: first call, median with interval, p95, minimum.
Table executor_table(const IterationTimes& times);
/// What the graphs are made of: operations, and the bytes that they read and write.
Table graph_table(const IterationTimes& times);
/// Preparation, stage by stage.
Table stage_table(const IterationTimes& times);
/// Means of n = 5, 20, 100 and all calls, counted in three ways, and the speedups they give against the first executor.
Table means_table(const IterationTimes& times);
/// Every other executor against the first, in each kind of process: speedup, break-even call.
Table comparison_table(const IterationTimes& times);
/// Speedups of every other executor against the first, call by call and between processes, a sentence each.
std::vector<std::string> comparison_sentences(const IterationTimes& times);
/// The same, break-even calls, and where too little was measured.
std::vector<std::string> iteration_sentences(const IterationTimes& times);
/// The time of each call, and the sum since the beginning.
Figure iterations_figure(const IterationTimes& times);

}  // namespace hone
