#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/labs/speed_report.h"

/// Numbers derived from timed calls of executors: medians, stages, ratios.
namespace hone {

/// Returns the row of an executor in a kind of process; null if it was not measured.
template <typename Row>
const Row* row_of(const std::vector<Row>& rows, std::string_view executor,
                  std::string_view process) {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.executor == executor && row.process == process; });
  return found == rows.end() ? nullptr : &*found;
}

/// Returns a ratio of the means of n calls of an executor in a kind of process; none if it was not measured.
std::optional<double> ratio_at(const std::vector<LoopMeanResult>& means, std::string_view executor,
                               std::string_view process, std::int64_t n,
                               std::optional<double> LoopMeanResult::*ratio);

/// Whether a speedup is claimed: it is shown, and the end of its interval next to 1 is not printed as 1.00.
bool is_shown_faster(const Speedup& speedup);
bool is_shown_slower(const Speedup& speedup);
/// Whether calls of an executor came in phases in the warm process, so that its intervals are too narrow.
bool drifted(const IterationTimes& times);

/// Returns the executors that ran a workload.
std::vector<LabExecutorResult> executors_of(const WorkloadCalls& found);
/// Returns every executor of each workload, and those not run, with the reason.
std::vector<LabExecutorResult> overview_of(const std::vector<WorkloadCalls>& calls,
                                           const std::vector<SkippedWorkload>& left_out,
                                           Context& context);
/// Returns the first workload of each model that was run.
std::vector<const WorkloadCalls*> first_of_models(const std::vector<WorkloadCalls>& calls);
/// Returns the workload that shows the cost of preparation best: the most prepared executor eventually gets ahead of
/// the first, although it is slower by the mean of five calls. If there is none, a workload whose first output is shown
/// to be later, else `usual`.
const WorkloadCalls& headline_workload(const std::vector<WorkloadCalls>& calls,
                                       const WorkloadCalls& usual);

/// A stage of preparation, and its counterpart in torch.compile.
struct Counterpart {
  std::string_view stage, of_pytorch;
  bool is_compilation = true;
};
constexpr Counterpart kCounterparts[] = {
    {"passes", "Inductor: passes over the graph, fusion"},
    {"gradients", "AOT Autograd: the backward graph, before the first call"},
    {"optimizer", "none: the state of AdamW", /*is_compilation=*/false},
    {"constants", "Inductor: constant folding"},
    {"planning", "Inductor: kernels, memory, generated code"}};

double median_of(std::vector<double> values);
/// Returns the median over fresh processes; none if the executor has no such stage.
std::optional<double> stage_ms(const ExecutorCalls& calls, std::string_view stage);
/// Returns the time of a fresh process without preparation and calls.
double model_ms(const ExecutorCalls& calls);
/// Returns the median of a call over the processes of a kind; `call` counts from 0.
double call_ms(const ExecutorCalls& calls, std::string_view process, std::size_t call);
/// Returns the operations of this name in the graph of an executor; null if none.
const OperationKind* kind_of(const ExecutorCalls& calls, std::string_view operation);

/// The fewest fresh processes per executor for this: with fewer, chance would often order all of them.
constexpr std::int64_t kFewestProcesses = 3;
/// Whether a workload was run in that many processes.
bool can_show_later_output(const WorkloadCalls& found);
/// Whether it was, and every fresh process of the most prepared executor took longer until its first output than every
/// one of the first executor.
bool first_output_shown_later(const WorkloadCalls& found);

}  // namespace hone
