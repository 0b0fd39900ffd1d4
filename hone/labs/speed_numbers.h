#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/labs/speed_report.h"

/// What timed calls say of executors, in numbers: medians, stages, ratios.
namespace hone {

/// Null where it was not measured.
template <typename Row>
const Row* row_of(const std::vector<Row>& rows, std::string_view executor,
                  std::string_view process) {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.executor == executor && row.process == process; });
  return found == rows.end() ? nullptr : &*found;
}

/// A ratio of the means of n calls of an executor in a kind of process; nothing where it was not measured.
std::optional<double> ratio_at(const std::vector<LoopMeanResult>& means, std::string_view executor,
                               std::string_view process, std::int64_t n,
                               std::optional<double> LoopMeanResult::*ratio);

/// Whether a speedup is claimed: it is shown, and the end of its interval next to 1 is not 1.00 as it is printed.
bool claimed_faster(const Speedup& speedup);
bool claimed_slower(const Speedup& speedup);
/// Whether calls of an executor came in phases in the warm process, so that its intervals are too narrow.
bool drifted(const IterationTimes& times);

/// Every executor of a work that was run.
std::vector<LabExecutorResult> executors_of(const FoundCalls& found);
/// Every executor of each work, and what was not run, with the reason.
std::vector<LabExecutorResult> overview_of(const std::vector<FoundCalls>& calls,
                                           const std::vector<LeftOutWork>& left_out,
                                           Context& context);
/// The first work of each model that was run.
std::vector<const FoundCalls*> first_of_models(const std::vector<FoundCalls>& calls);
/// The work that shows best what the start costs: the executor that is prepared the most gets ahead of the first, but the means
/// of five calls make it slower. Without any, a work whose first output is shown to be later, else `usual`.
const FoundCalls& work_of_headline(const std::vector<FoundCalls>& calls, const FoundCalls& usual);

/// A stage of preparation, and what does the same in torch.compile.
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
/// Of fresh processes; nothing where the executor has no such stage.
std::optional<double> stage_ms(const WayTimes& way, std::string_view stage);
/// From the start of a fresh process to its end, without preparation and calls.
double model_ms(const WayTimes& way);
/// Of the processes of a kind, the median of a call; `call` counts from 0.
double call_ms(const WayTimes& way, std::string_view process, std::size_t call);
/// Operations of this name in the graph of an executor; null: none.
const OperationKind* kind_of(const WayTimes& way, std::string_view operation);

/// Fresh processes of each executor. With fewer, chance would often order all of them.
constexpr std::int64_t kFewestProcesses = 3;
/// Whether a work was run in so many.
bool can_show_later_output(const FoundCalls& found);
/// Whether it was, and every fresh process of the executor that is prepared the most took longer until its first output than
/// every one of the first executor.
bool first_output_shown_later(const FoundCalls& found);

}  // namespace hone
