#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/bench.h"
#include "hone/jobs/call_series.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// Benchmark of executors call by call, from the first call on: how much a faster one saves, and after how many calls.
namespace hone {

/// Where calls are timed. Fresh: in new processes, one per executor. Warm: in this process, after a first run of
/// everything; the executors take turns.
enum class IterationProcess : std::uint8_t {
  both,
  warm,
  own,  ///< this process counts as fresh: one executor, from its start
};
inline constexpr std::string_view kIterationProcesses[] = {"both", "warm", "this"};

struct IterationsJob {
  BenchJob work = {};
  /// Executors; the first is the baseline. Empty: all that the device supports; the result says why it lacks the
  /// others.
  std::vector<std::string> executors = {};
  std::int64_t iterations = 50;  ///< calls of each executor
  /// Calls at the start that medians leave out; by default 10, or a fifth of fewer than 50 calls.
  std::optional<std::int64_t> ignored = {};
  IterationProcess process = IterationProcess::both;
  std::int64_t processes = 3;  ///< fresh ones per executor
  /// Command line after `hone` for the same work without these settings; `executor`, `iterations`, `process` and `json`
  /// are appended.
  std::vector<std::string> arguments = {};
  std::string figure = {};  ///< file name without extension; empty: no figure
  bool overwrite = false;
};

/// All operations of one kind in a graph.
struct OperationKind {
  std::string operation;
  std::int64_t nodes = 0;
  std::int64_t moved_bytes = 0;  ///< read and written per call, as if no cache held any
};
const Fields& fields_of(const OperationKind*);

/// Times of one executor in all of its processes.
struct ExecutorCalls {
  std::string executor;
  std::optional<CallSeries> warm = {};
  std::vector<CallSeries> fresh = {};
  std::vector<double> process_ms =
      {};  ///< of fresh ones from start to end, reading the model included
  std::vector<OperationKind> graph = {};  ///< operations that it runs; most bytes first

  std::string_view summary() const;
  std::int64_t operations() const;
  std::int64_t moved_bytes() const;
};
const Fields& fields_of(const ExecutorCalls*);

/// An executor that the device does not support.
struct ExecutorNotRun {
  std::string executor, why_not;
};
const Fields& fields_of(const ExecutorNotRun*);

/// Times of an executor in one kind of process: medians over several processes.
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

/// Means over a loop of n calls.
struct LoopMeanResult {
  std::string executor, process;
  std::int64_t n = 0;
  double with_preparation_ms = 0, mean_ms = 0, later_ms = 0;
  std::optional<double> with_preparation_ratio = {}, mean_ratio = {}, later_ratio = {};
};
const Fields& fields_of(const LoopMeanResult*);

/// An executor compared with the first in one kind of process.
struct ExecutorComparisonResult {
  std::string executor, baseline, process;
  std::optional<Speedup> speedup = {};
  std::optional<std::int64_t> rounds_to_detect = {};
  double extra_ms = 0, second_extra_ms = 0, gain_ms = 0;
  std::optional<std::int64_t> break_even_call = {}, break_even_low = {}, break_even_high = {};
};
const Fields& fields_of(const ExecutorComparisonResult*);

/// The result, also as JSON.
struct IterationTimes {
  TimedWork work = {};
  std::int64_t iterations = 0, ignored = 0;
  std::vector<ExecutorCalls> executors = {};
  std::vector<ExecutorNotRun> not_run = {};  ///< empty if executors were given

  std::vector<ExecutorTimesResult> times() const;
  /// Means for n = 5, 20, 100 and all calls, counted in three ways, with the speedups over the first executor.
  std::vector<LoopMeanResult> means() const;
  /// Comparisons of every other executor with the first, in each kind of process.
  std::vector<ExecutorComparisonResult> comparisons() const;
  /// The same in sentences, with break-even calls and warnings about too few measurements.
  std::vector<std::string> findings() const;
};
const Fields& fields_of(const IterationTimes*);

struct IterationsResult : JobResult {
  IterationTimes times;
};

/// Times a model call by call. Throws `UserError` like `bench`, for unknown or repeated executors, for fewer than two
/// calls, and if a fresh process fails; `Interrupted`.
IterationsResult bench_iterations(const IterationsJob& job, Context& context);

// ---- the report

/// Returns headline, key figures, tables and findings.
Document iterations_document(const IterationTimes& times);
/// Returns a row for each executor and process: first call, median with interval, p95, minimum.
Table executor_table(const IterationTimes& times);
Table stage_table(const IterationTimes& times);
Table means_table(const IterationTimes& times);
Table comparison_table(const IterationTimes& times);
/// Returns a sentence for each speedup of another executor over the first, call by call and between processes.
std::vector<std::string> comparison_sentences(const IterationTimes& times);
/// Draws the time of each call, and the cumulative time.
Figure iterations_figure(const IterationTimes& times);

}  // namespace hone
