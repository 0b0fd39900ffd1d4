#pragma once

#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "hone/base/text.h"
#include "hone/labs/speed_numbers.h"
#include "hone/labs/speed_report.h"

/// The sentences of lab 4.1, which depend on the intervals of the run.
namespace hone {

/// Returns "a fresh process of each" or "3 fresh processes of each".
std::string processes_text(std::int64_t processes);

/// Returns "from call 3 on (1 to 7)"; for a call after the last one made, says that it is extrapolated.
std::string estimate_text(const ExecutorComparisonResult& one, const IterationTimes& times);

/// The most prepared executor against the first, which is prepared the least.
struct PreparedMost {
  LabExecutorResult first, ready;
  ExecutorComparisonResult fresh;
  std::int64_t processes = 1;  ///< fresh processes per executor
  double fresh_ratio = 1;      ///< ratio of the medians of calls in fresh processes
  std::optional<Interval> fresh_ratios =
      {};                    ///< between any two fresh processes, if there are several
  bool has_drifted = false;  ///< whether latency drifted in the warm process
  std::string ahead = {};    ///< `estimate_text` for fresh processes

  bool faster() const { return ready.speedup && is_shown_faster(*ready.speedup); }
  bool slower() const { return ready.speedup && is_shown_slower(*ready.speedup); }
  /// Returns "1.60× faster (95% CI 1.52 to 1.67; in the one fresh process of each: 1.41× faster)".
  std::string speedup() const;
  /// Returns its range: "(95% CI 1.52 to 1.67; between any two of 3 fresh processes of each: 1.49 to 1.80× faster)".
  std::string range() const;
  /// Returns the range of fresh processes only, without parentheses.
  std::string fresh_range() const;
  bool gets_ahead() const { return ready.break_even_fresh.has_value(); }
};
PreparedMost prepared_most(const WorkloadCalls& found);

/// The most prepared executor (compiled, graph) against the interpreter, which runs the same fused operations, by calls
/// in turn. Workloads in which latency drifted count as showing nothing.
struct AgainstInterpreter {
  std::string executor = {};
  std::int64_t compared = 0;
  std::vector<std::string> faster = {}, slower = {};  ///< workloads where that is shown

  bool no_difference() const { return compared > 0 && faster.empty() && slower.empty(); }
  /// Returns "" if no workload was run with both.
  std::string text() const {
    if (compared == 0) return "";
    if (no_difference())
      return fmt::format("No workload shows a difference per call between {} and interpreter",
                         executor);
    std::vector<std::string> parts;
    if (!faster.empty())
      parts.push_back(fmt::format("faster than interpreter for {}", fmt::join(faster, "; ")));
    if (!slower.empty())
      parts.push_back(fmt::format("slower than interpreter for {}", fmt::join(slower, "; ")));
    return fmt::format("Per call, {} is {}{}", executor, fmt::join(parts, ", and "),
                       compared > std::ssize(faster) + std::ssize(slower)
                           ? "; other workloads show no difference between them"
                           : "");
  }
};
AgainstInterpreter against_interpreter(const std::vector<WorkloadCalls>& calls);

/// Returns two sentences: why it does not look faster at first, how much faster it is later, and from which call on; by
/// `headline_workload`.
std::string headline_of(const std::vector<WorkloadCalls>& calls, const WorkloadCalls& usual);
std::string key_figure_of(const WorkloadCalls& found);

/// Returns explanations of the numbers, a paragraph each.
std::vector<std::string> why_of(const std::vector<WorkloadCalls>& calls,
                                const std::vector<WorkloadMistakes>& mistakes, Context& context);

/// Returns how executors compare on one workload, and why calls may not be independent.
std::vector<std::string> findings_of(const IterationTimes& times);

}  // namespace hone
