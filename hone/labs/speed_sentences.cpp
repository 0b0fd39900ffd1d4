#include "hone/labs/speed_sentences.h"

#include <algorithm>
#include <span>

#include "hone/jobs/device_time.h"
#include "hone/labs/other_device.h"
#include "hone/labs/speed_numbers.h"

namespace hone {
namespace {

// "1.83 ms more", "1.60 ms less"
std::string more_text(double ms) {
  return fmt::format("{} ms {}", three_digits(std::abs(ms)), ms > 0 ? "more" : "less");
}

}  // namespace

std::string processes_text(std::int64_t processes) {
  return processes == 1 ? "a fresh process of each"
                        : fmt::format("{} fresh processes of each", processes);
}

std::string estimate_text(const ExecutorComparisonResult& one, const IterationTimes& times) {
  const std::string text = break_even_text({.call = one.break_even_call,
                                            .low = one.break_even_low.value_or(1),
                                            .high = one.break_even_high});
  if (one.break_even_call.value_or(0) <= times.iterations) return text;
  const std::optional<double> ratio = ratio_at(times.means(), one.executor, one.process,
                                               times.iterations, &LoopMeanResult::with_ready_ratio);
  return fmt::format("{}; extrapolated: {} calls were made{}", text, grouped(times.iterations),
                     ratio && *ratio < 1 ? ", and it was not reached in them" : "");
}

std::string PreparedMost::range() const {
  const Interval& ends = ready.speedup.value().interval.value();
  std::string text = fmt::format("95% CI {}", speed_range_text(ends.low, ends.high));
  if (has_drifted) text += ", too narrow, as latency drifted";
  if (has_drifted && fresh_ratios)
    text += fmt::format("; between any two of {}: {}{}", processes_text(processes),
                        speed_range_text(fresh_ratios->low, fresh_ratios->high),
                        fresh_ratios->low >= 1   ? "× faster"
                        : fresh_ratios->high < 1 ? "× slower"
                                                 : "");
  return fmt::format("({}){}", text, ready.speedup->noisy() ? ", noisy" : "");
}

std::string PreparedMost::speedup() const {
  if (!ready.speedup) return "too few calls to compare";
  return fmt::format(
      "{} {}", faster() || slower() ? speed_text(ready.speedup->value) : "no measurable speedup",
      range());
}

PreparedMost prepared_most(const FoundCalls& found) {
  const std::vector<LabExecutorResult> rows = executors_of(found);
  const std::vector<ExecutorComparisonResult> comparisons = found.times->comparisons();
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const std::string& ready = *rows.back().executor;
  const ExecutorTimesResult &before = *row_of(times, *rows.front().executor, "fresh"),
                            &after = *row_of(times, ready, "fresh");
  PreparedMost one{rows.front(), rows.back(), *row_of(comparisons, ready, "fresh"),
                   *row_of(comparisons, ready, "warm"), after.processes};
  if (before.median_low_ms && after.median_low_ms)
    one.fresh_ratios = Interval{*before.median_low_ms / *after.median_high_ms,
                                *before.median_high_ms / *after.median_low_ms};
  one.has_drifted = drifted(*found.times);
  one.ahead = estimate_text(one.fresh, *found.times);
  return one;
}

GeneratedCode generated_code(const std::vector<FoundCalls>& calls) {
  GeneratedCode all;
  for (const FoundCalls& found : calls) {
    if (!found.times) continue;
    const std::vector<WayTimes>& ways = found.times->ways;
    const auto interpreter = std::ranges::find(ways, "interpreter", &WayTimes::way),
               compiled = std::ranges::find(ways, "compiled", &WayTimes::way);
    if (interpreter == ways.end() || compiled == ways.end() || !interpreter->warm ||
        !compiled->warm)
      continue;
    const auto ignored = static_cast<std::size_t>(found.times->ignored);
    const std::span<const double> before = std::span(interpreter->warm->calls_ms).subspan(ignored),
                                  after = std::span(compiled->warm->calls_ms).subspan(ignored);
    if (before.size() != after.size() || before.size() < kFewestForMedianInterval) continue;
    const Speedup speedup = speedup_of(before, after);
    ++all.compared;
    if (drifted(*found.times)) continue;
    if (claimed_faster(speedup))
      all.faster.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
    if (claimed_slower(speedup))
      all.slower.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
  }
  return all;
}

namespace {

// "In a warm process, compiled is 1.85× faster per call than eager (95% CI 1.72 to 1.93)"
std::string per_call_text(const PreparedMost& one) {
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  if (one.faster() || one.slower())
    return fmt::format("In a warm process, {} is {} per call than {} {}{}", ready,
                       speed_text(one.ready.speedup->value), first, one.range(),
                       one.slower() ? ", so it does not get ahead" : "");
  return fmt::format("In a warm process, no difference per call between {} and {} is shown: {}",
                     first, ready, one.speedup());
}

}  // namespace

std::string headline_of(const std::vector<FoundCalls>& calls, const FoundCalls& usual) {
  const FoundCalls& found = work_of_headline(calls, usual);
  const PreparedMost one = prepared_most(found);
  std::string text =
      "A loop that begins with an unprepared model also times preparation and slow first calls";
  text += one.ready.ratio_5
              ? fmt::format(": by the mean of its first 5 calls, {} is {} than {} ({}).",
                            *one.ready.executor, speed_text(*one.ready.ratio_5),
                            *one.first.executor, found.work)
              : fmt::format(" ({}).", found.work);
  text += " " + per_call_text(one);
  if (one.faster()) text += "; " + one.ahead_clause();
  if (const PreparedMost other = prepared_most(usual);
      one.faster() && one.gets_ahead() && &usual != &found && other.gets_ahead())
    text += fmt::format("; for {}, {}", usual.work, other.ahead);
  return text + ".";
}

std::string key_figure_of(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  return fmt::format("{} against {}, per call in a warm process: {}{}", *one.ready.executor,
                     *one.first.executor, one.speedup(),
                     !one.faster()      ? ""
                     : one.gets_ahead() ? "; in a fresh one, estimated to be ahead " + one.ahead
                                        : "; fresh ones give no break-even call");
}

std::string why_first_call(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  const double second = call_ms(found.times->ways.back(), "fresh", 1) -
                        call_ms(found.times->ways.front(), "fresh", 1);
  std::string text = fmt::format(
      "A loop that begins with an unprepared model measures (preparation + n calls) / n, so a gain "
      "per call must first pay for the start. In fresh processes of {}, {} takes {} than {} until "
      "its first output, and {} in the second call. {}",
      found.work, ready, more_text(one.fresh.extra_ms), first, more_text(second),
      one.faster()   ? capitalized(one.ahead_clause()) + "."
      : one.slower() ? fmt::format("In a warm process it is {} per call, so nothing is paid back.",
                                   one.speedup())
                     : fmt::format("No gain per call is shown ({}), so there is no such call.",
                                   one.speedup()));
  if (second > std::max(one.fresh.extra_ms, 0.0))
    text +=
        " The second call is the larger part of the extra time; why it is slow was not measured.";
  std::vector<std::string> loops;
  for (const auto& [n, ratio] : {std::pair{5, one.ready.ratio_5}, {100, one.ready.ratio_100}})
    if (ratio) loops.push_back(fmt::format("{}× at n = {}", three_digits(*ratio), n));
  if (!loops.empty())
    text += fmt::format(" Such loops report a speedup of {}", fmt::join(loops, ", "));
  if (!loops.empty() && one.ready.ratio_100_later)
    text += fmt::format("; 100 warm calls report {}×", three_digits(*one.ready.ratio_100_later));
  return loops.empty() ? text : text + ".";
}

std::string why_first_outputs(const std::vector<FoundCalls>& calls) {
  std::vector<std::string> later;
  int open = 0;
  for (const FoundCalls& found : calls) {
    if (!found.times) continue;
    const PreparedMost one = prepared_most(found);
    if (one.fresh.extra_ms <= 0) continue;
    if (!first_output_shown_later(found)) {
      ++open;
      continue;
    }
    later.push_back(fmt::format("{} instead of {} ms for {}", three_digits(*one.ready.start_ms),
                                three_digits(*one.first.start_ms), found.work));
  }
  std::string text =
      "A later first output counts as shown if each of at least three fresh processes took longer "
      "than all those of the first executor.";
  if (!later.empty()) text += fmt::format(" It is shown for: {}.", fmt::join(later, "; "));
  if (open > 0)
    text += fmt::format(" For {}{} workload{}, the median is higher, but that is not shown.", open,
                        later.empty() ? "" : " other", open == 1 ? "" : "s");
  return text;
}

std::string why_stages(const FoundCalls& found) {
  const WayTimes& ready = found.times->ways.back();
  std::vector<std::string> stages;
  for (const Counterpart& one : kCounterparts)
    if (const std::optional<double> ms = stage_ms(ready, one.stage); ms && one.is_compilation)
      stages.push_back(fmt::format("{} {} ms", one.stage, three_digits(*ms)));
  return fmt::format(
      "torch.compile works in the first call: Dynamo captures a graph, AOT Autograd adds the "
      "backward graph, and Inductor fuses operations and generates code. hone reads a model as a "
      "graph; before the first call of {}, {} takes: {}.",
      found.work, ready.way, fmt::join(stages, ", "));
}

std::string why_fusion(const FoundCalls& found, const GeneratedCode& generated) {
  const WayTimes &first = found.times->ways.front(), &ready = found.times->ways.back();
  return fmt::format(
      "A fused operation does not write its intermediate results to memory. For inference of {}, "
      "{} runs {} operations that move {}, and {} runs {} that move {}, counted without caches.{}",
      found.model, first.way, first.operations(),
      human_bytes(static_cast<double>(first.moved_bytes())), ready.way, ready.operations(),
      human_bytes(static_cast<double>(ready.moved_bytes())),
      generated.compared == 0 ? "" : " " + generated.text() + ".");
}

namespace {

// "1.10× the correct latency (95% CI 1.09 to 1.11)"
std::string cost_text(const NaiveMistake& mistake) {
  return fmt::format("{}× the correct latency (95% CI {} to {})", three_digits(*mistake.ratio),
                     three_digits(mistake.ratio_interval.value().low),
                     three_digits(mistake.ratio_interval->high));
}

}  // namespace

std::string why_mistakes(const std::vector<FoundMistakes>& mistakes) {
  std::string text =
      "Each benchmarking mistake was made alone, with the interpreter, to see what it does to the "
      "measured latency.";
  for (const FoundMistakes& found : mistakes) {
    if (!found.times) continue;
    std::vector<std::string> shown;
    for (const NaiveMistake& one : found.times->mistakes) {
      if (!one.ratio || one.name == "n = 5") continue;
      const Interval& interval = one.ratio_interval.value();
      if (interval.low > 1 || interval.high < 1)
        shown.push_back(fmt::format("{}, {}", one.name, cost_text(one)));
    }
    text += fmt::format(
        " {}: {}.", found.work.substr(0, found.work.find(',')),
        shown.empty() ? "no effect is shown" : fmt::format("{}", fmt::join(shown, "; ")));
  }
  return text;
}

std::string why_device(const std::vector<FoundCalls>& calls, Context& context) {
  const OtherDevice other = other_device(context);
  if (context.device->host_accessible())
    return fmt::format("On CUDA: {}. `hone lab 4.1 --device cuda` measures it.", other.why_not);
  std::string text = fmt::format(
      "This run is on {}. There, the interpreter records the third run of its kind as a CUDA "
      "graph, which then needs one launch instead of one for each kernel.",
      device_text(context.session()));
  for (const FoundCalls& found : calls)
    if (!found.times) text += fmt::format(" {}: {}.", found.work, found.why_not);
  return text;
}

namespace {

// The differences that the formula of the break-even call takes.
std::string even_sentence(const ExecutorComparisonResult& one, const IterationTimes& times,
                          bool differs) {
  const auto way = [&](const std::string& name) -> const WayTimes& {
    return *std::ranges::find(times.ways, name, &WayTimes::way);
  };
  const double second =
      call_ms(way(one.executor), one.process, 1) - call_ms(way(one.baseline), one.process, 1);
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

// "": calls did not come in phases.
std::string drift_sentence(const IterationTimes& times) {
  std::vector<std::string> drifts;
  for (const WayTimes& way : times.ways)
    if (const std::optional<Interval> phases =
            phases_of(way.warm.value(), static_cast<std::size_t>(times.ignored)))
      drifts.push_back(fmt::format("{} to {} ms for {}", three_digits(phases->low),
                                   three_digits(phases->high), way.way));
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
        even_sentence(one, times, turns && (claimed_faster(*turns) || claimed_slower(*turns))));
  }
  if (std::string drift = drift_sentence(times); !drift.empty())
    sentences.push_back(std::move(drift));
  return sentences;
}

}  // namespace hone
