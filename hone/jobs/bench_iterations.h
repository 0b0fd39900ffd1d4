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
  /// Executors; the first is the baseline. None: all that the device has; the result says why it has no others.
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

/// All operations of a kind in a graph.
struct OperationKind {
  std::string operation;
  std::int64_t nodes = 0;
  std::int64_t moved_bytes = 0;  ///< read and written in a call, as if no cache held any
};
const Fields& fields_of(const OperationKind*);

/// One executor in the processes it was timed in.
struct WayTimes {
  std::string way;
  std::optional<CallSeries> warm = {};
  std::vector<CallSeries> fresh = {};
  std::vector<double> process_ms =
      {};  ///< of fresh ones from start to end, reading the model included
  std::vector<OperationKind> graph = {};  ///< that it runs; most bytes first

  std::string_view summary() const;
  std::int64_t operations() const;
  std::int64_t moved_bytes() const;
};
const Fields& fields_of(const WayTimes*);

/// An executor that the device does not have.
struct ExecutorNotRun {
  std::string executor, why_not;
};
const Fields& fields_of(const ExecutorNotRun*);

/// An executor in one kind of process; of several processes the medians over them.
struct ExecutorTimesResult {
  std::string executor, process;
  std::int64_t processes = 1;
  double start_ms = 0;
  std::optional<double> start_min_ms = {}, start_max_ms = {};
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::optional<double> median_low_ms = {}, median_high_ms = {}, p95_ms = {};
  std::int64_t counted = 0;
  std::optional<std::int64_t> calls_for_one_percent = {};
};
const Fields& fields_of(const ExecutorTimesResult*);

/// What a loop of n calls gives.
struct LoopMeanResult {
  std::string executor, process;
  std::int64_t n = 0;
  double with_ready_ms = 0, mean_ms = 0, later_ms = 0;
  std::optional<double> with_ready_ratio = {}, mean_ratio = {}, later_ratio = {};
};
const Fields& fields_of(const LoopMeanResult*);

/// An executor against the first in one kind of process.
struct ExecutorComparisonResult {
  std::string executor, baseline, process;
  std::optional<Speedup> speedup = {};
  std::optional<std::int64_t> rounds_to_tell = {};
  double extra_ms = 0, second_extra_ms = 0, gain_ms = 0;
  std::optional<std::int64_t> break_even_call = {}, break_even_low = {}, break_even_high = {};
};
const Fields& fields_of(const ExecutorComparisonResult*);

/// The result, for programs too.
struct IterationTimes {
  TimedWork work = {};
  std::int64_t iterations = 0, ignored = 0;
  std::vector<WayTimes> ways = {};
  std::vector<ExecutorNotRun> not_run = {};  ///< empty if executors were asked for

  std::vector<ExecutorTimesResult> times() const;
  /// Of n = 5, 20, 100 and all calls, counted in three ways, and the speedups they give against the first executor.
  std::vector<LoopMeanResult> means() const;
  /// Every other executor against the first, in each kind of process.
  std::vector<ExecutorComparisonResult> comparisons() const;
  /// The same, break-even calls, and where too little was measured, a sentence each.
  std::vector<std::string> findings() const;
};
const Fields& fields_of(const IterationTimes*);

struct IterationsResult : JobResult {
  IterationTimes times;
};

/// Times a model call by call. Throws `UserError` as `bench`, for unknown or repeated ways, for fewer than two calls, and
/// where a process of its own fails; `Interrupted`.
IterationsResult bench_iterations(const IterationsJob& job, Context& context);

// ---- the result for people

/// Headline, key figures, tables and findings.
Document iterations_document(const IterationTimes& times);
/// A row for each executor and process: first call, median with interval, p95, minimum.
Table executor_table(const IterationTimes& times);
/// Preparation, stage by stage.
Table stage_table(const IterationTimes& times);
Table means_table(const IterationTimes& times);
Table comparison_table(const IterationTimes& times);
/// Speedups of every other executor against the first, call by call and between processes, a sentence each.
std::vector<std::string> comparison_sentences(const IterationTimes& times);
/// The time of each call, and the sum since the beginning.
Figure iterations_figure(const IterationTimes& times);

}  // namespace hone
