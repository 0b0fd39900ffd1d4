#include "hone/labs/speed_sentences.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "hone/jobs/device_time.h"
#include "hone/labs/skipped_device.h"
#include "hone/labs/speed_numbers.h"

namespace hone {
namespace {

// Returns "1.83 ms more" or "1.60 ms less".
std::string more_text(double ms) {
  return fmt::format("{} ms {}", three_digits(std::abs(ms)), ms > 0 ? "more" : "less");
}

}  // namespace

std::string processes_text(std::int64_t processes) {
  return processes == 1 ? "a fresh process of each"
                        : fmt::format("{} fresh processes of each", processes);
}

namespace {

std::string even_text(const ExecutorComparisonResult& one) {
  return break_even_text({.call = one.break_even_call,
                          .low = one.break_even_low.value_or(1),
                          .high = one.break_even_high});
}

bool is_extrapolated(const ExecutorComparisonResult& one, const IterationTimes& times) {
  return one.break_even_call.value_or(0) > times.iterations;
}

}  // namespace

std::string estimate_text(const ExecutorComparisonResult& one, const IterationTimes& times) {
  const std::string text = even_text(one);
  if (!is_extrapolated(one, times)) return text;
  const std::optional<double> ratio =
      ratio_at(times.means(), one.executor, one.process, times.iterations,
               &LoopMeanResult::with_preparation_ratio);
  return fmt::format("{}; extrapolated: {} calls were made{}", text, grouped(times.iterations),
                     ratio && *ratio < 1 ? ", and it was not reached in them" : "");
}

std::string PreparedMost::fresh_range() const {
  if (processes == 1)
    return fmt::format("in the one fresh process of each: {}", speed_text(fresh_ratio));
  if (!fresh_ratios)
    return fmt::format("by the medians of {}: {}", processes_text(processes),
                       speed_text(fresh_ratio));
  return fmt::format("between any two of {}: {}{}", processes_text(processes),
                     speed_range_text(fresh_ratios->low, fresh_ratios->high),
                     fresh_ratios->low >= 1   ? "× faster"
                     : fresh_ratios->high < 1 ? "× slower"
                                              : "");
}

std::string PreparedMost::range() const {
  const Interval& ends = ready.speedup.value().interval.value();
  return fmt::format("(95% CI {}{}; {}){}", speed_range_text(ends.low, ends.high),
                     has_drifted ? ", too narrow, as latency drifted" : "", fresh_range(),
                     ready.speedup->noisy() ? ", noisy" : "");
}

std::string PreparedMost::speedup() const {
  if (!ready.speedup) return "too few calls to compare";
  return fmt::format(
      "{} {}", faster() || slower() ? speed_text(ready.speedup->value) : "no measurable speedup",
      range());
}

PreparedMost prepared_most(const WorkloadCalls& found) {
  const std::vector<LabExecutorResult> rows = executors_of(found);
  const std::vector<ExecutorComparisonResult> comparisons = found.times->comparisons();
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const std::string& ready = *rows.back().executor;
  const ExecutorTimesResult &before = *row_of(times, *rows.front().executor, "fresh"),
                            &after = *row_of(times, ready, "fresh");
  PreparedMost one{rows.front(), rows.back(), *row_of(comparisons, ready, "fresh"), after.processes,
                   before.median_ms / after.median_ms};
  // For a single process they would be the ends of an interval over its calls.
  if (std::min(before.processes, after.processes) > 1 && before.median_low_ms &&
      after.median_low_ms)
    one.fresh_ratios = Interval{*before.median_low_ms / *after.median_high_ms,
                                *before.median_high_ms / *after.median_low_ms};
  one.has_drifted = drifted(*found.times);
  one.ahead = estimate_text(one.fresh, *found.times);
  return one;
}

AgainstInterpreter against_interpreter(const std::vector<WorkloadCalls>& calls) {
  AgainstInterpreter all;
  for (const WorkloadCalls& found : calls) {
    if (!found.times) continue;
    const std::vector<ExecutorCalls>& executors = found.times->executors;
    const auto interpreter = std::ranges::find(executors, "interpreter", &ExecutorCalls::executor);
    if (interpreter == executors.end() || interpreter + 1 == executors.end() ||
        !interpreter->warm || !executors.back().warm)
      continue;
    const auto ignored = static_cast<std::size_t>(found.times->ignored);
    const std::span<const double> before = std::span(interpreter->warm->calls_ms).subspan(ignored),
                                  after =
                                      std::span(executors.back().warm->calls_ms).subspan(ignored);
    if (before.size() != after.size() || before.size() < kFewestForMedianInterval) continue;
    const Speedup speedup = speedup_of(before, after);
    ++all.compared;
    all.executor = executors.back().executor;
    if (drifted(*found.times)) continue;
    if (is_shown_faster(speedup))
      all.faster.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
    if (is_shown_slower(speedup))
      all.slower.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
  }
  return all;
}

namespace {

// Returns "In a warm process, it is 1.85× faster per call (95% CI 1.72 to 1.93; between any two of 3 fresh processes of
// each: 1.70 to 2.05× faster); from a fresh start, it is ahead from call 11 on (7 to 20), by an estimate from medians."
std::string later_calls_text(const PreparedMost& one, const IterationTimes& times) {
  if (!one.ready.speedup) return "The warm process made too few calls to compare.";
  const Interval& ends = one.ready.speedup->interval.value();
  const std::string range =
      fmt::format("95% CI {}; {}", speed_range_text(ends.low, ends.high), one.fresh_range());
  if (!one.faster() && !one.slower())
    return fmt::format("In a warm process, no difference per call is shown ({}).", range);
  const std::string measured = fmt::format("In a warm process, it is {} per call ({})",
                                           speed_text(one.ready.speedup->value), range);
  if (one.slower()) return measured + ", so it does not get ahead.";
  if (!one.gets_ahead()) return measured + ", but there is no break-even call in fresh processes.";
  return fmt::format("{}; from a fresh start, it is ahead {}{}, by an estimate from medians.",
                     measured, even_text(one.fresh),
                     is_extrapolated(one.fresh, times) ? ", extrapolated" : "");
}

}  // namespace

std::string headline_of(const std::vector<WorkloadCalls>& calls, const WorkloadCalls& usual) {
  const WorkloadCalls& found = headline_workload(calls, usual);
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  const std::optional<double>& ratio = one.ready.ratio_5;
  const std::string loop =
      !ratio ? fmt::format(
                   "A loop that begins with an unprepared model also times preparation and "
                   "slow first calls of {} ({}).",
                   ready, found.work)
      : *ratio < 1 ? fmt::format(
                         "By the mean of its first 5 calls, {} is {} than {} ({}), as this mean "
                         "includes preparation and slow first calls.",
                         ready, speed_text(*ratio), first, found.work)
                   : fmt::format(
                         "By the mean of its first 5 calls, {} is {} than {} ({}), although this "
                         "mean includes preparation.",
                         ready, speed_text(*ratio), first, found.work);
  return loop + " " + later_calls_text(one, *found.times);
}

std::string key_figure_of(const WorkloadCalls& found) {
  const PreparedMost one = prepared_most(found);
  return fmt::format(
      "{} against {}, per call in a warm process: {}{}", *one.ready.executor, *one.first.executor,
      one.speedup(),
      !one.faster() ? ""
      : !one.gets_ahead()
          ? "; there is no break-even call in fresh ones"
          : fmt::format("; in a fresh one{}, estimated to be ahead {}",
                        one.processes == 1 ? " (one process of each)" : "", one.ahead));
}

namespace {

std::string why_first_call(const WorkloadCalls& found) {
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  const double second = call_ms(found.times->executors.back(), "fresh", 1) -
                        call_ms(found.times->executors.front(), "fresh", 1);
  std::string text = fmt::format(
      "A loop that begins with an unprepared model measures (preparation + n calls) / n, so a gain "
      "per call must first pay for the start. In fresh processes of {}, {} takes {} than {} until "
      "its first output, and {} in the second call.",
      found.work, ready, more_text(one.fresh.extra_ms), first, more_text(second));
  if (second > std::max(one.fresh.extra_ms, 0.0))
    text += " The second call is the larger part of this; why it is slow was not measured.";
  const bool hundred = one.ready.ratio_100.has_value();
  if (const std::optional<double>& ratio = hundred ? one.ready.ratio_100 : one.ready.ratio_20)
    text += fmt::format(" At n = {}, such a loop reports a speedup of {}×.", hundred ? 100 : 20,
                        three_digits(*ratio));
  return text;
}

// Returns for how many workloads with enough fresh processes the first output is shown to take longer.
std::string why_first_outputs(const std::vector<WorkloadCalls>& calls) {
  int works = 0, later = 0;
  std::string first;
  for (const WorkloadCalls& found : calls) {
    if (!found.times || !can_show_later_output(found)) continue;
    first = found.times->executors.front().executor;
    ++works;
    if (first_output_shown_later(found)) ++later;
  }
  if (works == 0)
    return fmt::format(
        "No workload had {} fresh processes of each executor, so none can show that a first output "
        "is later.",
        kFewestProcesses);
  return fmt::format(
      "A first output is shown to be later if every fresh process (of at least {}) took longer "
      "than all those of {}: for {} of the {} that had as many.",
      kFewestProcesses, first, later, counted_text(works, "workload"));
}

std::string why_stages(const WorkloadCalls& found) {
  const ExecutorCalls& ready = found.times->executors.back();
  std::vector<std::string> stages;
  for (const Counterpart& one : kCounterparts)
    if (const std::optional<double> ms = stage_ms(ready, one.stage); ms && one.is_compilation)
      stages.push_back(fmt::format("{} {} ms", one.stage, three_digits(*ms)));
  return fmt::format(
      "torch.compile works in the first call: Dynamo captures a graph, AOT Autograd adds the "
      "backward graph, and Inductor fuses operations and generates code. hone reads a model as a "
      "graph; before this first call, {} takes: {}.",
      ready.executor, fmt::join(stages, ", "));
}

std::string why_fusion(const WorkloadCalls& found, const AgainstInterpreter& turns) {
  const ExecutorCalls &first = found.times->executors.front(),
                      &ready = found.times->executors.back();
  return fmt::format(
      "A fused operation does not write its intermediate results to memory. For inference of {}, "
      "{} runs {} operations that move {}, and {} runs {} that move {}.{}",
      found.model, first.executor, first.operations(),
      human_bytes(static_cast<double>(first.moved_bytes())), ready.executor, ready.operations(),
      human_bytes(static_cast<double>(ready.moved_bytes())),
      turns.compared == 0
          ? ""
          : fmt::format(" Against the interpreter, which fuses the same operations, {} is shown "
                        "to be faster per call for {} of {} workloads and slower for {}.",
                        turns.executor, turns.faster.size(), turns.compared, turns.slower.size()));
}

// Returns "1.10× the correct latency (95% CI 1.09 to 1.11)".
std::string cost_text(const NaiveMistake& mistake) {
  return fmt::format("{}× the correct latency (95% CI {} to {})", three_digits(*mistake.ratio),
                     three_digits(mistake.ratio_interval.value().low),
                     three_digits(mistake.ratio_interval->high));
}

// Returns how many mistakes have an interval that excludes the correct latency, and which has the largest effect.
std::string why_mistakes(const std::vector<WorkloadMistakes>& mistakes, std::string_view executor) {
  const NaiveMistake* largest = nullptr;
  std::string work_of_largest;
  const auto size = [](const NaiveMistake& one) { return std::abs(std::log(*one.ratio)); };
  std::vector<std::string> counts;
  for (const WorkloadMistakes& found : mistakes) {
    if (!found.times) continue;
    const std::string work = found.work.substr(0, found.work.find(','));
    int shown = 0, all = 0;
    for (const NaiveMistake& one : found.times->mistakes) {
      if (!one.ratio || one.name == "n = 5") continue;
      ++all;
      const Interval& interval = one.ratio_interval.value();
      if (interval.low <= 1 && interval.high >= 1) continue;
      ++shown;
      if (largest != nullptr && size(one) <= size(*largest)) continue;
      largest = &one;
      work_of_largest = work;
    }
    counts.push_back(fmt::format("{} of {} ({})", shown, all, work));
  }
  std::string text = fmt::format(
      "Each benchmarking mistake was made separately, with the executor {}. An effect on latency "
      "is "
      "shown for {}.",
      executor, fmt::join(counts, " and "));
  return largest == nullptr
             ? text
             : text + fmt::format(" The largest is that of “{}” ({}): {}.", largest->name,
                                  work_of_largest, cost_text(*largest));
}

std::string why_device(Context& context) {
  if (context.device->host_accessible())
    return fmt::format("On CUDA, this was {}. `hone lab 4.1 --device cuda` measures it.",
                       other_device(context).why_not);
  return fmt::format(
      "This run is on {}. There, the executor graph records its third call as a CUDA graph. Later "
      "calls need one launch instead of one for each kernel.",
      device_text(context.session()));
}

}  // namespace

std::vector<std::string> why_of(const std::vector<WorkloadCalls>& calls,
                                const std::vector<WorkloadMistakes>& mistakes, Context& context) {
  std::vector<std::string> why;
  if (const std::vector<const WorkloadCalls*> models = first_of_models(calls); !models.empty()) {
    const WorkloadCalls& first = *models.front();
    const WorkloadCalls& shown = headline_workload(calls, first);
    why = {why_first_call(shown), why_first_outputs(calls), why_stages(shown),
           why_fusion(first, against_interpreter(calls))};
    if (std::ranges::any_of(mistakes,
                            [](const WorkloadMistakes& one) { return one.times.has_value(); }))
      why.push_back(why_mistakes(mistakes, mode_of(context.session()).name));
  }
  why.push_back(why_device(context));
  return why;
}

namespace {

// Returns the differences in the formula of the break-even call.
std::string even_sentence(const ExecutorComparisonResult& one, const IterationTimes& times,
                          bool differs) {
  const auto executor = [&](const std::string& name) -> const ExecutorCalls& {
    return *std::ranges::find(times.executors, name, &ExecutorCalls::executor);
  };
  const double second = call_ms(executor(one.executor), one.process, 1) -
                        call_ms(executor(one.baseline), one.process, 1);
  const std::string even =
      differs ? fmt::format("by an estimate from medians, {} is ahead of {} {}", one.executor,
                            one.baseline, estimate_text(one, times))
              : fmt::format(
                    "no break-even call of {} against {} is estimated, as no difference "
                    "per call is shown",
                    one.executor, one.baseline);
  return fmt::format("In a {} process, {}: the first output takes {}, the second call {}{}.",
                     one.process, even, more_text(one.extra_ms), more_text(second),
                     differs ? ", and each later call " + more_text(-one.gain_ms) : "");
}

// Returns "" if calls did not come in phases.
std::string drift_sentence(const IterationTimes& times) {
  std::vector<std::string> drifts;
  for (const ExecutorCalls& calls : times.executors)
    if (const std::optional<Interval> phases =
            phases_of(calls.warm.value(), static_cast<std::size_t>(times.ignored)))
      drifts.push_back(fmt::format("{} to {} ms for {}", three_digits(phases->low),
                                   three_digits(phases->high), calls.executor));
  if (drifts.empty()) return "";
  return fmt::format(
      "Latency drifted in the warm process: medians of each fifth of the calls range from {}. "
      "Other programs or the clock frequency may be the reason. Confidence intervals assume "
      "independent calls, so they are too narrow here.",
      fmt::join(drifts, ", "));
}

}  // namespace

std::vector<std::string> findings_of(const IterationTimes& times) {
  std::vector<std::string> sentences = comparison_sentences(times);
  const std::vector<ExecutorComparisonResult> comparisons = times.comparisons();
  for (const ExecutorComparisonResult& one : comparisons) {
    const std::optional<Speedup>& turns = row_of(comparisons, one.executor, "warm")->speedup;
    sentences.push_back(
        even_sentence(one, times, turns && (is_shown_faster(*turns) || is_shown_slower(*turns))));
  }
  if (std::string drift = drift_sentence(times); !drift.empty())
    sentences.push_back(std::move(drift));
  return sentences;
}

}  // namespace hone
