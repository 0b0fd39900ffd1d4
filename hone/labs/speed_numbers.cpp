#include "hone/labs/speed_numbers.h"

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/skipped_device.h"

namespace hone {

std::optional<double> ratio_at(const std::vector<LoopMeanResult>& means, std::string_view executor,
                               std::string_view process, std::int64_t n,
                               std::optional<double> LoopMeanResult::*ratio) {
  for (const LoopMeanResult& row : means)
    if (row.executor == executor && row.process == process && row.n == n && row.*ratio)
      return row.*ratio;
  return std::nullopt;
}

bool is_shown_faster(const Speedup& speedup) {
  return speedup.shown_faster() && three_digits(speedup.interval->low) != "1.00";
}

bool is_shown_slower(const Speedup& speedup) {
  return speedup.shown_slower() && three_digits(1 / speedup.interval->high) != "1.00";
}

bool drifted(const IterationTimes& times) {
  return std::ranges::any_of(times.executors, [&](const ExecutorCalls& calls) {
    return calls.warm &&
           phases_of(*calls.warm, static_cast<std::size_t>(times.ignored)).has_value();
  });
}

std::vector<LabExecutorResult> executors_of(const WorkloadCalls& found) {
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const std::vector<LoopMeanResult> means = found.times->means();
  const std::vector<ExecutorComparisonResult> comparisons = found.times->comparisons();
  std::vector<LabExecutorResult> rows;
  for (const ExecutorCalls& calls : found.times->executors) {
    LabExecutorResult row{.work = found.work,
                          .device = found.times->work.device,
                          .executor = calls.executor,
                          .start_ms = row_of(times, calls.executor, "fresh")->start_ms,
                          .median_ms = row_of(times, calls.executor, "warm")->median_ms,
                          .calls = found.times->iterations};
    if (const auto* warm = row_of(comparisons, calls.executor, "warm")) {
      row.speedup = warm->speedup;
      // If calls are not shown to be faster, a break-even call would be due to chance.
      if (row.speedup && is_shown_faster(*row.speedup)) {
        row.break_even_warm = warm->break_even_call;
        row.break_even_warm_low = warm->break_even_low;
        row.break_even_warm_high = warm->break_even_high;
        if (const auto* fresh = row_of(comparisons, calls.executor, "fresh")) {
          row.break_even_fresh = fresh->break_even_call;
          row.break_even_fresh_low = fresh->break_even_low;
          row.break_even_fresh_high = fresh->break_even_high;
        }
      }
      const auto fresh_ratio = [&](std::int64_t n) {
        return ratio_at(means, calls.executor, "fresh", n, &LoopMeanResult::with_preparation_ratio);
      };
      row.ratio_5 = fresh_ratio(5);
      row.ratio_20 = fresh_ratio(20);
      row.ratio_100 = fresh_ratio(100);
      row.ratio_100_later =
          ratio_at(means, calls.executor, "warm", 100, &LoopMeanResult::later_ratio);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<LabExecutorResult> overview_of(const std::vector<WorkloadCalls>& calls,
                                           const std::vector<SkippedWorkload>& left_out,
                                           Context& context) {
  std::vector<LabExecutorResult> overview;
  const Session session = context.session();
  const OtherDevice other = other_device(context);
  for (const WorkloadCalls& found : calls) {
    if (found.times) {
      for (LabExecutorResult& row : executors_of(found)) overview.push_back(std::move(row));
      for (const ExecutorNotRun& one : found.times->not_run)
        overview.push_back({.work = found.work,
                            .device = found.times->work.device,
                            .executor = one.executor,
                            .why_not = "not run: " + one.why_not});
    } else {
      overview.push_back(
          {.work = found.work, .device = device_text(session), .why_not = found.why_not});
    }
  }
  for (const SkippedWorkload& work : left_out)
    overview.push_back(
        {.work = work.work, .device = device_text(session), .why_not = work.why_not});
  overview.push_back({.work = "all", .device = other.name, .why_not = other.why_not});
  return overview;
}

std::vector<const WorkloadCalls*> first_of_models(const std::vector<WorkloadCalls>& calls) {
  std::vector<const WorkloadCalls*> first;
  for (const WorkloadCalls& found : calls)
    if (found.times && (first.empty() || first.back()->model != found.model))
      first.push_back(&found);
  return first;
}

const WorkloadCalls& headline_workload(const std::vector<WorkloadCalls>& calls,
                                       const WorkloadCalls& usual) {
  const WorkloadCalls *slowest = nullptr, *late = nullptr;
  double least = 1;
  for (const WorkloadCalls& found : calls) {
    if (!found.times) continue;
    const LabExecutorResult ready = executors_of(found).back();
    if (ready.break_even_fresh && ready.ratio_5 && *ready.ratio_5 < least) {
      slowest = &found;
      least = *ready.ratio_5;
    }
    if (late == nullptr && first_output_shown_later(found)) late = &found;
  }
  return slowest != nullptr ? *slowest : late != nullptr ? *late : usual;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

std::optional<double> stage_ms(const ExecutorCalls& calls, std::string_view stage) {
  std::vector<double> values;
  for (const CallSeries& series : calls.fresh)
    for (const StageTime& one : series.stages)
      if (one.name == stage) values.push_back(one.ms);
  if (values.empty()) return std::nullopt;
  return median_of(std::move(values));
}

double model_ms(const ExecutorCalls& calls) {
  std::vector<double> values;
  for (std::size_t i = 0; i < calls.fresh.size(); ++i)
    values.push_back(calls.process_ms[i] - calls.fresh[i].cumulative_ms().back());
  return median_of(std::move(values));
}

double call_ms(const ExecutorCalls& calls, std::string_view process, std::size_t call) {
  if (process == "warm") return calls.warm.value().calls_ms.at(call);
  std::vector<double> values;
  for (const CallSeries& series : calls.fresh) values.push_back(series.calls_ms.at(call));
  return median_of(std::move(values));
}

const OperationKind* kind_of(const ExecutorCalls& calls, std::string_view operation) {
  const auto found = std::ranges::find(calls.graph, operation, &OperationKind::operation);
  return found == calls.graph.end() ? nullptr : &*found;
}

bool can_show_later_output(const WorkloadCalls& found) {
  const std::vector<ExecutorCalls>& executors = found.times->executors;
  return std::min(std::ssize(executors.front().fresh), std::ssize(executors.back().fresh)) >=
         kFewestProcesses;
}

bool first_output_shown_later(const WorkloadCalls& found) {
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const ExecutorTimesResult &before =
                                *row_of(times, found.times->executors.front().executor, "fresh"),
                            &after =
                                *row_of(times, found.times->executors.back().executor, "fresh");
  return can_show_later_output(found) && before.start_max_ms && after.start_min_ms &&
         *after.start_min_ms > *before.start_max_ms;
}

}  // namespace hone
