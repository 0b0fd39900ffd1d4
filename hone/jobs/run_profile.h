#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/file.h"
#include "hone/base/thread_trace.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"
#include "hone/runtime/peaks.h"
#include "hone/runtime/session.h"

/// Measures where the time of runs is spent: by operation, against the peak of this machine, and on a timeline.
namespace hone {

/// The time of one operation, or of several of one kind, per run: the mean of the faster half of all runs.
struct OperatorTime {
  std::string name;       ///< of the node, or of the operation
  std::string operation;  ///< "linear"
  std::string kernel;     ///< "gemm"
  double calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  ///< read and written, as if no cache held them
  PeakKind arithmetic = PeakKind::fp32_gflops;
};

/// Bytes that a node reads and writes, as if no cache held them. A gather counts only the rows it reads.
double bytes_moved(const Node& node, const Bindings& bindings);

/// One operation of one run, in microseconds since the first one began.
struct TimelineSpan {
  std::size_t node = 0;  ///< index into the operators
  double begin_us = 0, duration_us = 0;
  std::int64_t value_bytes = 0;  ///< of all values that are alive afterwards
};

/// Recorded runs of a graph.
struct RunProfile {
  std::int64_t runs = 0;
  std::vector<OperatorTime> operators;  ///< nodes of the graph that took time, in graph order
  std::vector<TimelineSpan> timeline;   ///< of the last three runs
  std::vector<std::vector<TimelineSpan>> lanes;  ///< by thread, without `value_bytes`
};

/// Bytes that all operations of a graph read and write in one run, as if no cache held them.
double bytes_moved(const Graph& graph, const Bindings& bindings);

/// Records the runs of an executable during its lifetime.
class RunRecorder {
 public:
  /// `threads`: also record their work.
  RunRecorder(Executable& executable, bool threads) : executable_(executable) {
    executable_.record(&spans_);
    if (threads) threads_.emplace();
  }
  ~RunRecorder() { executable_.record(nullptr); }
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  const std::vector<OperationSpan>& spans() const { return spans_; }
  /// Summarizes this many runs, all with these sizes.
  RunProfile profile(const Bindings& bindings, const Session& session, std::int64_t runs) const;

 private:
  Executable& executable_;
  std::vector<OperationSpan> spans_;
  std::optional<ThreadTrace> threads_;
};

/// The resource that limits an operation: the one that would take longer at its peak, compute or memory; caches if the
/// operation took less than memory would; neither if that is less than `kBoundShare` of the time it took, so that
/// overhead and waiting dominate.
enum class Bound : std::uint8_t { compute, memory, caches, neither };
std::span<const EnumName> enum_names(Bound);
inline constexpr double kBoundShare = 0.25;

/// The peaks of this machine, in 10^9 per second.
struct MachinePeaks {
  Peak fp32;                             ///< multiply-adds, operations
  Peak bandwidth;                        ///< memory copied, bytes read and written
  std::map<PeakKind, Peak> native = {};  ///< products of codes, operations

  double operations(PeakKind kind) const;
  /// Return the seconds for the operations at their peak, and for the bytes to and from memory.
  double compute_seconds(const OperatorTime& one) const;
  double memory_seconds(const OperatorTime& one) const;
  Bound bound_by(const OperatorTime& one) const;
};

/// One operation, or several of one kind, against the peak of the machine.
struct OperatorTimeResult {
  std::string operation;
  std::optional<std::string> kernel = {};
  std::int64_t calls = 0;
  double ms = 0, share = 0, call_us = 0;
  std::optional<double> gflops = {}, share_of_peak = {}, gbps = {}, share_of_bandwidth = {},
                        flop_per_byte = {};
  std::optional<Bound> bound_by = {};

  /// Returns the memory traffic of all calls, from the rate; 0 for operations that move nothing, such as views.
  double moved_bytes() const { return gbps.value_or(0) * ms * 1e6; }
};
const Fields& fields_of(const OperatorTimeResult*);
/// Returns the slowest first. `most`: maximum number of rows, the others are summed in one more; 0: all.
std::vector<OperatorTimeResult> operator_results(const std::vector<OperatorTime>& operators,
                                                 const MachinePeaks& peaks, std::size_t most = 0);

/// Groups operators by operation and kernel, slowest first.
std::vector<OperatorTime> by_kernel(const std::vector<OperatorTime>& nodes);

/// Returns the same as a table.
Table operator_table(const std::vector<OperatorTime>& operators, const MachinePeaks& peaks,
                     std::size_t most);

/// Returns events in the Trace Event Format for Perfetto and chrome://tracing: a lane for operations, one for each
/// thread, and counters of bytes and of operations per second.
std::string timeline_json(const RunProfile& profile, const std::string& what);

/// Plots operations per second against operations per byte, below the peak of the machine (Williams, Waterman and
/// Patterson, "Roofline", 2009).
Figure roofline(const std::vector<OperatorTime>& operators, const MachinePeaks& peaks,
                const std::string& title);

}  // namespace hone
