#pragma once

#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "hone/base/text.h"
#include "hone/labs/speed_numbers.h"
#include "hone/labs/speed_report.h"

/// The sentences of lab 4.1, chosen by the intervals of the run.
namespace hone {

/// "a fresh process of each", "3 fresh processes of each"
std::string processes_text(std::int64_t processes);

/// "from call 3 on (1 to 7)"; of a call after all that were made, that it is extrapolated.
std::string estimate_text(const ExecutorComparisonResult& one, const IterationTimes& times);

/// The executor that is prepared the most against the first, which is prepared the least.
struct PreparedMost {
  LabExecutorResult first, ready;
  ExecutorComparisonResult fresh;
  std::int64_t processes = 1;  ///< fresh ones of each
  double fresh_ratio = 1;      ///< of the medians of calls in fresh processes
  std::optional<Interval> fresh_ratios =
      {};                    ///< between any two fresh processes, if there are several
  bool has_drifted = false;  ///< latency, in the warm process
  std::string ahead = {};    ///< in fresh processes, as `estimate_text`

  bool faster() const { return ready.speedup && claimed_faster(*ready.speedup); }
  bool slower() const { return ready.speedup && claimed_slower(*ready.speedup); }
  /// "1.60× faster (95% CI 1.52 to 1.67; in the one fresh process of each: 1.41× faster)"
  std::string speedup() const;
  /// "(95% CI 1.52 to 1.67; between any two of 3 fresh processes of each: 1.49 to 1.80× faster)" of it.
  std::string range() const;
  /// The same of fresh processes alone, without brackets.
  std::string fresh_range() const;
  bool gets_ahead() const { return ready.break_even_fresh.has_value(); }
};
PreparedMost prepared_most(const FoundCalls& found);

/// The executor that prepares most (compiled, graph) against the interpreter, which runs the same fused operations, by calls in turn.
/// Works where latency drifted show nothing.
struct AgainstInterpreter {
  std::string executor = {};
  std::int64_t compared = 0;
  std::vector<std::string> faster = {}, slower = {};  ///< works where that is shown

  bool no_difference() const { return compared > 0 && faster.empty() && slower.empty(); }
  /// "": no work was run with both.
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
AgainstInterpreter against_interpreter(const std::vector<FoundCalls>& calls);

/// Why it does not look faster at first, how much faster it is then, and from which call on; by `work_of_headline`. Two sentences.
std::string headline_of(const std::vector<FoundCalls>& calls, const FoundCalls& usual);
std::string key_figure_of(const FoundCalls& found);

/// Why the numbers are what they are, a paragraph each.
std::vector<std::string> why_of(const std::vector<FoundCalls>& calls,
                                const std::vector<FoundMistakes>& mistakes, Context& context);

/// How executors compare on one work, and why calls may not be independent.
std::vector<std::string> findings_of(const IterationTimes& times);

}  // namespace hone
