#include "hone/labs/speed_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/other_device.h"

namespace hone {
namespace {

template <typename Row>
const Row* row_of(const std::vector<Row>& rows, std::string_view executor,
                  std::string_view process) {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.executor == executor && row.process == process; });
  return found == rows.end() ? nullptr : &*found;
}

// A ratio of the means of n calls of an executor in a kind of process; nothing where it was not measured.
std::optional<double> ratio_at(const std::vector<LoopMeanResult>& means, std::string_view executor,
                               std::string_view process, std::int64_t n,
                               std::optional<double> LoopMeanResult::*ratio) {
  for (const LoopMeanResult& row : means)
    if (row.executor == executor && row.process == process && row.n == n && row.*ratio)
      return row.*ratio;
  return std::nullopt;
}

// ---- tables

// Every executor of a work that was run.
std::vector<LabExecutorResult> executors_of(const FoundCalls& found) {
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const std::vector<LoopMeanResult> means = found.times->means();
  const std::vector<ExecutorComparisonResult> comparisons = found.times->comparisons();
  std::vector<LabExecutorResult> rows;
  for (const WayTimes& way : found.times->ways) {
    LabExecutorResult row{.work = found.work,
                          .device = found.times->work.device,
                          .executor = way.way,
                          .start_ms = row_of(times, way.way, "fresh")->start_ms,
                          .median_ms = row_of(times, way.way, "warm")->median_ms};
    if (const auto* warm = row_of(comparisons, way.way, "warm")) {
      row.speedup = warm->speedup;
      // Where calls are not shown to be faster, a break-even call would be chance.
      if (row.speedup && row.speedup->shown_faster()) {
        row.break_even_warm = warm->break_even_call;
        if (const auto* fresh = row_of(comparisons, way.way, "fresh"))
          row.break_even_fresh = fresh->break_even_call;
      }
      const auto fresh_ratio = [&](std::int64_t n) {
        return ratio_at(means, way.way, "fresh", n, &LoopMeanResult::with_ready_ratio);
      };
      row.ratio_5 = fresh_ratio(5);
      row.ratio_20 = fresh_ratio(20);
      row.ratio_100 = fresh_ratio(100);
      row.ratio_100_later = ratio_at(means, way.way, "warm", 100, &LoopMeanResult::later_ratio);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Every executor of each work, and what was not run, with the reason.
std::vector<LabExecutorResult> overview_of(const std::vector<FoundCalls>& calls, Context& context) {
  std::vector<LabExecutorResult> overview;
  const Session session = context.session();
  const OtherDevice other = other_device(context);
  for (const FoundCalls& found : calls) {
    if (found.times) {
      for (LabExecutorResult& row : executors_of(found)) overview.push_back(std::move(row));
      for (const ExecutionWay& way : execution_ways())
        if (const std::string objection = objection_of(way, session); !objection.empty())
          overview.push_back({.work = found.work,
                              .device = found.times->work.device,
                              .executor = std::string(way.name),
                              .why_not = "not run: " + objection});
    } else {
      overview.push_back(
          {.work = found.work, .device = device_text(session), .why_not = found.why_not});
    }
  }
  overview.push_back({.work = "all", .device = other.name, .why_not = other.why_not});
  return overview;
}

Table overview_table(const std::vector<LabExecutorResult>& overview) {
  Table table({{"work", "Work"},
               {"device", "Device"},
               {"executor", "Executor"},
               {"start_ms", "First output, fresh (ms)"},
               {"median_ms", "Median call, warm (ms)"},
               {"speedup", "Speedup, warm"},
               {"break_even_fresh", "Break-even call, fresh"},
               {"break_even_warm", "Break-even call, warm"},
               {"ratio_5", "n = 5, fresh"},
               {"ratio_20", "n = 20, fresh"},
               {"ratio_100", "n = 100, fresh"},
               {"ratio_100_later", "n = 100, warm, after warm-up"},
               {"why_not", "Remark"}});
  const auto text = [](const auto& value) { return value ? Cell(*value) : Cell(absent); };
  const auto ms = [](const std::optional<double>& value, int digits) {
    return value ? real(*value, digits) : Cell(absent);
  };
  const auto ratio = [](const std::optional<double>& value) {
    return value ? significant(*value) : Cell(absent);
  };
  for (const LabExecutorResult& one : overview)
    table.add_row({one.work, one.device, text(one.executor), ms(one.start_ms, 2),
                   ms(one.median_ms, 3), speedup_cell(one.speedup), text(one.break_even_fresh),
                   text(one.break_even_warm), ratio(one.ratio_5), ratio(one.ratio_20),
                   ratio(one.ratio_100), ratio(one.ratio_100_later), text(one.why_not)});
  return table;
}

/// A stage of preparation, and what does the same in torch.compile.
struct Counterpart {
  std::string_view stage, of_pytorch;
};
constexpr Counterpart kCounterparts[] = {
    {"passes", "Inductor: passes over the graph, fusion"},
    {"gradients", "AOT Autograd: the backward graph, before the first call"},
    {"optimizer", "none: the state of AdamW"},
    {"constants", "Inductor: constant folding"},
    {"planning", "Inductor: kernels, memory, generated code"}};

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

// Of fresh processes; nothing where the executor has no such stage.
std::optional<double> stage_ms(const WayTimes& way, std::string_view stage) {
  std::vector<double> values;
  for (const CallSeries& series : way.fresh)
    for (const StageTime& one : series.stages)
      if (one.name == stage) values.push_back(one.ms);
  if (values.empty()) return std::nullopt;
  return median_of(std::move(values));
}

// From the start of a fresh process to its end, without preparation and calls.
double model_ms(const WayTimes& way) {
  std::vector<double> values;
  for (std::size_t i = 0; i < way.fresh.size(); ++i)
    values.push_back(way.process_ms[i] - way.fresh[i].cumulative_ms().back());
  return median_of(std::move(values));
}

// Of the processes of a kind, the median of a call; `call` counts from 0.
double call_ms(const WayTimes& way, std::string_view process, std::size_t call) {
  if (process == "warm") return way.warm.value().calls_ms.at(call);
  std::vector<double> values;
  for (const CallSeries& series : way.fresh) values.push_back(series.calls_ms.at(call));
  return median_of(std::move(values));
}

Table preparation_table(const IterationTimes& times) {
  std::vector<Column> columns = {{"stage", "Stage"}, {"torch_compile", "In torch.compile"}};
  for (const WayTimes& way : times.ways) columns.push_back({way.way, way.way + " (ms)"});
  Table table(columns);
  const auto add = [&](std::string_view stage, std::string_view of_pytorch, auto&& ms_of) {
    std::vector<Cell> row = {std::string(stage), std::string(of_pytorch)};
    for (const WayTimes& way : times.ways) {
      const std::optional<double> ms = ms_of(way);
      row.push_back(ms ? significant(*ms) : Cell(absent));
    }
    table.add_row(std::move(row));
  };
  add("reading the model, as a graph", "Dynamo: capture",
      [](const WayTimes& way) { return std::optional(model_ms(way)); });
  for (const Counterpart& one : kCounterparts)
    if (std::ranges::any_of(
            times.ways, [&](const WayTimes& way) { return stage_ms(way, one.stage).has_value(); }))
      add(one.stage, one.of_pytorch, [&](const WayTimes& way) { return stage_ms(way, one.stage); });
  for (const std::size_t call : {0, 1})
    add(call == 0 ? "first call" : "second call", call == 0 ? "first call" : "second call",
        [&](const WayTimes& way) { return std::optional(call_ms(way, "fresh", call)); });
  return table;
}

const OperationKind* kind_of(const WayTimes& way, std::string_view operation) {
  const auto found = std::ranges::find(way.graph, operation, &OperationKind::operation);
  return found == way.graph.end() ? nullptr : &*found;
}

// How many operations of each kind that moves memory, and how much, for each executor.
Table operations_table(const IterationTimes& times) {
  std::vector<Column> columns = {{"operation", "Operation"}};
  for (const WayTimes& way : times.ways)
    columns.insert(columns.end(),
                   {{way.way + "_nodes", way.way}, {way.way + "_bytes", way.way + ", traffic"}});
  Table table(columns);
  std::vector<std::string> names;
  for (const WayTimes& way : times.ways)
    for (const OperationKind& kind : way.graph)
      if (kind.moved_bytes > 0 && std::ranges::find(names, kind.operation) == names.end())
        names.push_back(kind.operation);
  for (const std::string& name : names) {
    std::vector<Cell> row = {name};
    for (const WayTimes& way : times.ways) {
      const OperationKind* kind = kind_of(way, name);
      row.push_back(kind != nullptr ? Cell(kind->nodes) : Cell(absent));
      row.push_back(kind != nullptr ? bytes(kind->moved_bytes) : Cell(absent));
    }
    table.add_row(std::move(row));
  }
  std::vector<Cell> sum = {"all, views included"};
  for (const WayTimes& way : times.ways) {
    sum.emplace_back(way.operations());
    sum.push_back(bytes(way.moved_bytes()));
  }
  table.add_row(std::move(sum));
  return table;
}

// ---- sentences, chosen by the intervals of this run

// "1.83 ms more", "1.60 ms less"
std::string more_text(double ms) {
  return fmt::format("{} ms {}", three_digits(std::abs(ms)), ms > 0 ? "more" : "less");
}

std::string processes_text(std::int64_t processes) {
  return processes == 1 ? "a fresh process of each"
                        : fmt::format("{} fresh processes of each", processes);
}

/// The executor that is prepared the most against the first, which is prepared the least.
struct PreparedMost {
  LabExecutorResult first, ready;
  ExecutorComparisonResult fresh, warm;
  std::int64_t processes = 1;                 ///< fresh ones of each
  std::optional<Interval> fresh_ratios = {};  ///< of a call, between any two fresh processes

  bool faster() const { return ready.speedup && ready.speedup->shown_faster(); }
  bool slower() const { return ready.speedup && ready.speedup->shown_slower(); }
  std::string speedup() const {
    return ready.speedup ? speedup_text(*ready.speedup) : "too few calls to compare";
  }
  bool gets_ahead() const { return ready.break_even_fresh.has_value(); }
  std::string ahead() const {
    return break_even_text({.call = fresh.break_even_call,
                            .low = fresh.break_even_low.value_or(1),
                            .high = fresh.break_even_high});
  }
  // "By an estimate from medians, compiled is ahead of eager in a fresh process from call 11 on (7 to 20)"
  std::string ahead_sentence() const {
    if (gets_ahead())
      return fmt::format("By an estimate from medians, {} is ahead of {} in a fresh process {}",
                         *ready.executor, *first.executor, ahead());
    const std::string which = processes_text(processes);
    if (!fresh_ratios) return fmt::format("The calls of {} give no break-even call", which);
    if (fresh_ratios->high < 1)
      return fmt::format("In {}, a call takes {} times as long, so it does not get ahead there",
                         which, speed_range_text(fresh_ratios->low, fresh_ratios->high));
    return fmt::format(
        "In {}, the speedup per call ranges from {}, and by medians {} does not get ahead there",
        which, speed_range_text(fresh_ratios->low, fresh_ratios->high), *ready.executor);
  }
};

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
  return one;
}

// Whether every fresh process of the executor that is prepared the most took longer until its first output than every one of
// the first executor. With fewer than three of each, chance would often do that.
bool first_output_shown_later(const FoundCalls& found) {
  constexpr std::int64_t kFewest = 3;
  const std::vector<ExecutorTimesResult> times = found.times->times();
  const ExecutorTimesResult &before = *row_of(times, found.times->ways.front().way, "fresh"),
                            &after = *row_of(times, found.times->ways.back().way, "fresh");
  return std::min(before.processes, after.processes) >= kFewest && before.start_max_ms &&
         after.start_min_ms && *after.start_min_ms > *before.start_max_ms;
}

/// Generated code against the interpreter, which fuses the same operations, by calls in turn.
struct GeneratedCode {
  std::int64_t compared = 0;
  std::vector<std::string> faster = {}, slower = {};  ///< works where that is shown

  bool no_difference() const { return compared > 0 && faster.empty() && slower.empty(); }
  // "": no work was run with both.
  std::string text() const {
    if (compared == 0) return "";
    if (no_difference())
      return "No workload shows a difference per call between compiled and interpreter";
    std::vector<std::string> parts;
    if (!faster.empty())
      parts.push_back(fmt::format("faster than interpreter for {}", fmt::join(faster, "; ")));
    if (!slower.empty())
      parts.push_back(fmt::format("slower than interpreter for {}", fmt::join(slower, "; ")));
    return fmt::format("Per call, compiled is {}{}", fmt::join(parts, ", and "),
                       compared > std::ssize(faster) + std::ssize(slower)
                           ? "; other workloads show no difference between them"
                           : "");
  }
};

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
    if (speedup.shown_faster())
      all.faster.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
    if (speedup.shown_slower())
      all.slower.push_back(fmt::format("{} ({})", found.work, speedup_text(speedup)));
  }
  return all;
}

// "compiled is 1.85× faster (95% CI 1.72 to 1.93) per call than eager in a warm process"
std::string per_call_text(const PreparedMost& one) {
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  if (one.faster() || one.slower())
    return fmt::format("{} is {} per call than {} in a warm process{}", ready, one.speedup(), first,
                       one.slower() ? ", so it does not get ahead" : "");
  return fmt::format("no difference per call between {} and {} is shown: {}", first, ready,
                     one.speedup());
}

// The start first, which the question is about, by the work that shows its cost.
std::string headline_of(const std::vector<FoundCalls>& calls, const FoundCalls& usual) {
  const auto late = std::ranges::find_if(calls, [](const FoundCalls& found) {
    return found.times && first_output_shown_later(found);
  });
  const FoundCalls& found = late == calls.end() ? usual : *late;
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  std::string text =
      late == calls.end()
          ? fmt::format(
                "No workload of this run shows that the first output of {} takes longer "
                "than that of {}. {}: {}.",
                ready, first, found.work, per_call_text(one))
          : fmt::format(
                "{}: the first output of {} takes {} ms in a fresh process, that of {} {} "
                "ms; then {}. {}",
                found.work, ready, three_digits(*one.ready.start_ms), first,
                three_digits(*one.first.start_ms), per_call_text(one),
                one.faster() ? one.ahead_sentence() + "." : "");
  while (text.ends_with(' ')) text.pop_back();
  if (const GeneratedCode generated = generated_code(calls); generated.no_difference())
    text += fmt::format(" {}{}.", generated.text(),
                        one.faster() ? ", so the gain shown comes from what both have: passes that "
                                       "fuse operations, and planning"
                                     : "");
  return text;
}

std::string key_figure_of(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  return fmt::format("{} against {}, per call in a warm process: {}{}", *one.ready.executor,
                     *one.first.executor, one.speedup(),
                     !one.faster()      ? ""
                     : one.gets_ahead() ? "; in a fresh one, estimated to be ahead " + one.ahead()
                                        : "; fresh ones give no break-even call");
}

std::string why_first_call(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  const double second = call_ms(found.times->ways.back(), "fresh", 1) -
                        call_ms(found.times->ways.front(), "fresh", 1);
  std::string text = fmt::format(
      "A loop that begins with an unprepared model measures (preparation + n calls) / n. A gain "
      "per "
      "call must first pay for the start: until call 2 + (extra time until the end of the second "
      "call) / (time saved per later call). In fresh processes of {}, {} takes {} than {} until "
      "its first output, and {} in the second call. {}",
      found.work, ready, more_text(one.fresh.extra_ms), first, more_text(second),
      one.faster()   ? one.ahead_sentence() + "."
      : one.slower() ? fmt::format("In a warm process it is {} per call, so nothing is paid back.",
                                   one.speedup())
                     : fmt::format("No gain per call is shown ({}), so there is no such call.",
                                   one.speedup()));
  std::vector<std::string> loops;
  for (const auto& [n, ratio] :
       {std::pair{5, one.ready.ratio_5}, {20, one.ready.ratio_20}, {100, one.ready.ratio_100}})
    if (ratio) loops.push_back(fmt::format("{}× at n = {}", three_digits(*ratio), n));
  if (!loops.empty())
    text += fmt::format(" Such loops report a speedup of {}", fmt::join(loops, ", "));
  if (!loops.empty() && one.ready.ratio_100_later)
    text += fmt::format("; 100 warm calls report {}×", three_digits(*one.ready.ratio_100_later));
  return loops.empty() ? text : text + ".";
}

// Of every work, what fresh processes show of the start.
std::string why_first_outputs(const std::vector<FoundCalls>& calls) {
  std::vector<std::string> later, open;
  for (const FoundCalls& found : calls) {
    if (!found.times) continue;
    const PreparedMost one = prepared_most(found);
    if (one.fresh.extra_ms <= 0) continue;
    std::string text = fmt::format("{} instead of {} ms for {}", three_digits(*one.ready.start_ms),
                                   three_digits(*one.first.start_ms), found.work);
    (first_output_shown_later(found) ? later : open).push_back(std::move(text));
  }
  std::string text =
      "A later first output counts as shown if each of at least three fresh processes took longer "
      "than all those of the first executor.";
  if (!later.empty()) text += fmt::format(" It is shown for: {}.", fmt::join(later, "; "));
  if (!open.empty())
    text +=
        fmt::format(" Medians are higher, but it is not shown, for: {}.", fmt::join(open, "; "));
  return text;
}

std::string why_stages(const FoundCalls& found) {
  const WayTimes& ready = found.times->ways.back();
  std::vector<std::string> stages;
  for (const Counterpart& one : kCounterparts)
    if (const std::optional<double> ms = stage_ms(ready, one.stage))
      stages.push_back(fmt::format("{} {} ms", one.stage, three_digits(*ms)));
  return fmt::format(
      "torch.compile works in the first call: Dynamo captures Python bytecode as a graph, AOT "
      "Autograd adds the backward graph, and Inductor fuses operations and generates code. hone "
      "reads a model as a graph; for the {} of {}, {} then takes: {}.",
      found.train ? "training step" : "inference", found.model, ready.way, fmt::join(stages, ", "));
}

// Kinds that move memory of which `in` has more than `than`, those with the most bytes first: "7 fused_linear, 2 attention".
std::string more_in(const WayTimes& in, const WayTimes& than) {
  std::vector<std::string> kinds;
  for (const OperationKind& kind : in.graph) {
    const OperationKind* other = kind_of(than, kind.operation);
    const std::int64_t more = kind.nodes - (other != nullptr ? other->nodes : 0);
    if (kind.moved_bytes > 0 && more > 0)
      kinds.push_back(fmt::format("{} {}", more, kind.operation));
  }
  return kinds.empty() ? "nothing" : fmt::format("{}", fmt::join(kinds, ", "));
}

std::string why_fusion(const FoundCalls& found, const GeneratedCode& generated) {
  const WayTimes &first = found.times->ways.front(), &ready = found.times->ways.back();
  return fmt::format(
      "A fused operation does not write its intermediate results to memory. For inference of {}, "
      "{} runs {} operations that move {}, and {} runs {} that move {}, counted without caches. In "
      "place of {}, {} has {}.{}",
      found.model, first.way, first.operations(),
      human_bytes(static_cast<double>(first.moved_bytes())), ready.way, ready.operations(),
      human_bytes(static_cast<double>(ready.moved_bytes())), more_in(first, ready), ready.way,
      more_in(ready, first), generated.compared == 0 ? "" : " " + generated.text() + ".");
}

// "1.10× the correct latency (95% CI 1.09 to 1.11)"
std::string cost_text(const NaiveMistake& mistake) {
  return fmt::format("{}× the correct latency (95% CI {} to {})", three_digits(*mistake.ratio),
                     three_digits(mistake.ratio_interval.value().low),
                     three_digits(mistake.ratio_interval->high));
}

// The mistakes whose interval does not contain the correct latency, in every work.
std::string why_mistakes(const std::vector<FoundMistakes>& mistakes) {
  std::string text = "Each benchmarking mistake was made alone, with the interpreter.";
  for (const FoundMistakes& found : mistakes) {
    if (!found.times) continue;
    std::vector<std::string> shown, not_shown;
    std::string five;
    for (const NaiveMistake& one : found.times->mistakes) {
      if (!one.ratio) continue;
      const Interval& interval = one.ratio_interval.value();
      if (one.name == "n = 5")
        five = fmt::format("95% of means of five warm calls are {} to {}× the correct latency",
                           three_digits(interval.low), three_digits(interval.high));
      else if (interval.low > 1 || interval.high < 1)
        shown.push_back(fmt::format("{}, {}", one.name, cost_text(one)));
      else
        not_shown.push_back(one.name);
    }
    text += fmt::format(" {}: {}{}.", found.work.substr(0, found.work.find(',')),
                        shown.empty() ? "no mistake has an effect that is shown"
                                      : fmt::format("{}", fmt::join(shown, "; ")),
                        five.empty() ? "" : "; " + five);
    if (!shown.empty() && !not_shown.empty())
      text += fmt::format(" No effect is shown of: {}.", fmt::join(not_shown, ", "));
  }
  return text;
}

// The first work of each model that was run.
std::vector<const FoundCalls*> first_of_models(const std::vector<FoundCalls>& calls) {
  std::vector<const FoundCalls*> first;
  for (const FoundCalls& found : calls)
    if (found.times && (first.empty() || first.back()->model != found.model))
      first.push_back(&found);
  return first;
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

// ---- the report

// `resnet`: the inference of the network that the reports timed, or null.
std::vector<PublishedResult> published_speeds(const FoundCalls* resnet, bool on_host) {
  const std::string source = "reports of the lab: ResNet-18, torch.compile against eager PyTorch";
  std::optional<std::string> warm, counted, five, twenty;
  if (resnet != nullptr) {
    const PreparedMost one = prepared_most(*resnet);
    const auto text = [](const std::optional<double>& ratio) {
      return ratio ? std::optional(speed_text(*ratio)) : std::nullopt;
    };
    warm = one.speedup();
    counted = text(ratio_at(resnet->times->means(), *one.ready.executor, "fresh",
                            resnet->times->iterations, &LoopMeanResult::with_ready_ratio));
    five = text(one.ready.ratio_5);
    twenty = text(one.ready.ratio_20);
  }
  const auto here = [&](bool of_host, const std::optional<std::string>& value) {
    return of_host == on_host ? value : std::nullopt;
  };
  return {{"CPU, warm process", "1.32× to 1.63× faster", here(true, warm), source},
          {"CPU, the compilation counted", "1.06× faster", here(true, counted), source},
          {"CPU, mean of n = 5", "compiled 24.5 s, eager 15.3 s", here(true, five), "report 001"},
          {"CPU, mean of n = 20",
           "compiled 14.2 s, eager 15.0 s; with n = 5, the break-even is near call 17",
           here(true, twenty), "report 001"},
          {"CUDA", "1.18× slower", here(false, warm), "report 001"},
          {"CUDA", "1.3× faster", here(false, warm), "report 003"},
          {"CUDA", "3.0× faster", here(false, warm), "report 002"}};
}

// The median of up to nine calls around each, so that single slow calls do not hide the curve; the first call is as it was.
std::vector<double> running_medians(const std::vector<double>& calls) {
  constexpr std::size_t kAround = 4;
  std::vector<double> medians;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t around = std::min({kAround, i, calls.size() - 1 - i});
    medians.push_back(median_of({calls.begin() + static_cast<std::ptrdiff_t>(i - around),
                                 calls.begin() + static_cast<std::ptrdiff_t>(i + around + 1)}));
  }
  return medians;
}

// What loops of 1, 2, … calls give that begin with nothing: the medians over fresh processes.
std::vector<double> loop_means(const WayTimes& way) {
  std::vector<double> means;
  for (std::size_t n = 1; n <= way.fresh.front().calls_ms.size(); ++n) {
    std::vector<double> of_processes;
    for (const CallSeries& series : way.fresh) of_processes.push_back(series.mean_with_ready_ms(n));
    means.push_back(median_of(std::move(of_processes)));
  }
  return means;
}

Series line_of(const std::string& label, const std::vector<double>& values) {
  Series line{.label = label, .draw = Draw::line};
  for (std::size_t i = 0; i < values.size(); ++i)
    line.points.push_back({static_cast<double>(i + 1), values[i]});
  return line;
}

Block calls_figure(const FoundCalls& found, const LabRun& run, Document& document) {
  const IterationTimes& times = *found.times;
  Panel warm{.title = "Each call in a warm process, smoothed",
             .x = {.label = "Call", .logarithmic = true},
             .y = {.label = "Time (ms)", .logarithmic = true}};
  Panel fresh{.title = "Mean of the first n calls of a fresh process",
              .x = {.label = "Calls n", .logarithmic = true},
              .y = {.label = "Mean with preparation (ms)", .logarithmic = true}};
  for (const WayTimes& way : times.ways) {
    warm.series.push_back(line_of(way.way, running_medians(way.warm.value().calls_ms)));
    fresh.series.push_back(line_of(way.way, loop_means(way)));
  }
  Block block = figure_block({.title = found.work, .panels = {warm, fresh}, .width = 1100},
                             run.folder() / ("calls_" + found.stage),
                             "The time of each call of a warm process, and the mean of the first "
                             "calls of fresh processes, a line for each executor",
                             document.notes);
  if (auto* figure = std::get_if<PageFigure>(&block))
    figure->caption = fmt::format(
        "{}. Left: the median of up to nine calls around each. Right: with preparation, {}Means "
        "include slow calls, so lines may cross at another call than the estimate from medians.",
        found.work,
        times.ways.front().fresh.size() == 1
            ? "one process of each executor. "
            : fmt::format("the median of {} processes of each executor. ",
                          times.ways.front().fresh.size()));
  return block;
}

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
                            one.baseline,
                            break_even_text({one.break_even_call, one.break_even_low.value_or(1),
                                             one.break_even_high}))
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

std::vector<std::string> findings_of(const IterationTimes& times) {
  std::vector<std::string> sentences = comparison_sentences(times);
  const std::vector<ExecutorComparisonResult> comparisons = times.comparisons();
  for (const ExecutorComparisonResult& one : comparisons) {
    const std::optional<Speedup>& turns = row_of(comparisons, one.executor, "warm")->speedup;
    sentences.push_back(
        even_sentence(one, times, turns && (turns->shown_faster() || turns->shown_slower())));
  }
  if (std::string drift = drift_sentence(times); !drift.empty())
    sentences.push_back(std::move(drift));
  return sentences;
}

// With a heading that says what it counts.
Table executors_table(const IterationTimes& times) {
  const Table table = executor_table(times);
  std::vector<Column> columns = table.columns();
  for (Column& column : columns)
    if (column.key == "calls_for_one_percent") column.header = "Calls for a median within 1%";
  Table titled(std::move(columns));
  for (const std::vector<Cell>& row : table.rows()) titled.add_row(row);
  return titled;
}

// `figure`: nothing where the page has it already.
Section calls_section(const FoundCalls& found, std::optional<Block> figure) {
  const IterationTimes& times = *found.times;
  Section section{found.work, {}, /*folded=*/true};
  for (const std::string& sentence : findings_of(times))
    section.blocks.push_back(Paragraph{sentence});
  if (figure) section.blocks.push_back(std::move(*figure));
  section.blocks.push_back(PageTable{
      executors_table(times),
      fmt::format(
          "On {}, {} threads. Fresh: new processes, one executor in each; times are medians over "
          "them, from and to the smallest and largest. Warm: one process that had run everything "
          "once, where executors took turns; from and to are the 95% confidence interval of the "
          "median. Medians leave out the first {} calls.",
          times.work.device, times.work.threads, times.ignored)});
  section.blocks.push_back(PageTable{
      means_table(times), "Means of a loop of n calls. Speedups are against the first executor."});
  section.blocks.push_back(PageTable{stage_table(times), "Preparation before the first output."});
  section.blocks.push_back(PageTable{operations_table(times),
                                     "Operations, and bytes of their operands and results, counted "
                                     "without caches."});
  return section;
}

Section mistakes_section(const std::vector<FoundMistakes>& mistakes) {
  Section section{"Benchmarking mistakes", {}};
  for (const FoundMistakes& found : mistakes)
    section.blocks.push_back(
        found.times ? Block(PageTable{
                          naive_table(*found.times),
                          fmt::format("{}, with the interpreter. Each mistake alone, with the 95% "
                                      "confidence interval of its ratio; that of n = 5 holds 95% "
                                      "of such means. Correct and wrong calls took turns in the "
                                      "lab's own process, at another time than the calls of the "
                                      "first table, so the correct latency differs from the "
                                      "median there.",
                                      found.work)})
                    : Block(Paragraph{fmt::format("{}: {}.", found.work, found.why_not)}));
  return section;
}

void write_tables(const std::vector<FoundCalls>& calls, const std::vector<FoundMistakes>& mistakes,
                  const fs::path& folder) {
  using Named = std::vector<std::pair<std::string, Table>>;
  Named executors, means, comparisons, operations, naive;
  for (const FoundCalls& found : calls) {
    if (!found.times) continue;
    executors.emplace_back(found.work, executor_table(*found.times));
    means.emplace_back(found.work, means_table(*found.times));
    comparisons.emplace_back(found.work, comparison_table(*found.times));
    operations.emplace_back(found.work, operations_table(*found.times));
  }
  for (const FoundMistakes& found : mistakes)
    if (found.times) naive.emplace_back(found.work, naive_table(*found.times));
  const std::pair<const char*, const Named&> files[] = {{"executors.csv", executors},
                                                        {"means.csv", means},
                                                        {"comparisons.csv", comparisons},
                                                        {"operations.csv", operations},
                                                        {"mistakes.csv", naive}};
  for (const auto& [name, tables] : files)
    if (!tables.empty()) write_file(folder / name, to_csv(joined({"work", "Work"}, tables)));
}

// What works that were run say, in the order of the page.
void describe_calls(const std::vector<FoundCalls>& calls,
                    const std::vector<FoundMistakes>& mistakes, const LabRun& run,
                    LabReport& report) {
  Document& document = report.document;
  const std::vector<const FoundCalls*> models = first_of_models(calls);
  const FoundCalls& first = *models.front();
  const auto training = std::ranges::find_if(
      calls, [](const FoundCalls& found) { return found.train && found.times; });
  const FoundCalls& prepared = training == calls.end() ? first : *training;
  document.headline = headline_of(calls, first);
  for (const FoundCalls* found : models)
    document.key_figures.push_back({found->work, key_figure_of(*found)});
  const IterationTimes& times = *first.times;
  document.evidence = fmt::format(
      "{}: medians of {} calls in turn in a warm process, without the first {}, and {} executor; "
      "on {}. Confidence intervals are of the warm process.",
      first.work, times.iterations, times.ignored,
      processes_text(std::ssize(times.ways.front().fresh)),
      ran_on(times.work.device, times.work.threads));
  report.why = {why_first_call(first), why_first_outputs(calls), why_stages(prepared),
                why_fusion(first, generated_code(calls))};
  if (std::ranges::any_of(mistakes, [](const FoundMistakes& one) { return one.times.has_value(); }))
    report.why.push_back(why_mistakes(mistakes));
  document.sections.front().blocks.insert(document.sections.front().blocks.begin(),
                                          calls_figure(first, run, document));
  document.sections.push_back(mistakes_section(mistakes));
  document.sections.push_back(
      {"Preparation, stage by stage",
       {PageTable{
           preparation_table(*prepared.times),
           fmt::format("{}: medians of fresh processes. Reading includes the start and end of "
                       "the process.",
                       prepared.work)}}});
  document.sections.push_back(
      {"Fused operations",
       {PageTable{
           operations_table(times),
           fmt::format("{}: operations of each kind, and bytes of their operands and results "
                       "in a call, counted without caches.",
                       first.work)}}});
  for (const FoundCalls& found : calls)
    if (found.times)
      document.sections.push_back(calls_section(
          found,
          &found == &first ? std::nullopt : std::optional(calls_figure(found, run, document))));
}

}  // namespace

LabReport speed_report(const std::vector<FoundCalls>& calls,
                       const std::vector<FoundMistakes>& mistakes, const LabRun& run) {
  LabReport report;
  report.arithmetic = run.context.values == DType::f32 ? "fp32" : "mixed precision";
  report.data = "random ids without padding, random images, fresh weights";
  SpeedLabFields fields{.overview = overview_of(calls, run.context)};
  const Table overview = overview_table(fields.overview);
  write_file(run.folder() / "overview.csv", to_csv(overview));
  write_tables(calls, mistakes, run.folder());
  report.document.sections = {
      {"",
       {PageTable{overview,
                  "Speedup: against the first executor, the median of calls in turn with its 95% "
                  "confidence interval. Break-even call: an estimate from medians of the first "
                  "output, the "
                  "second call and later calls; –: none, or no call is shown to be faster. Its "
                  "range, in brackets in the text, takes the smallest and largest of fresh "
                  "processes; of a single process, the 95% interval of later calls. n: by means of "
                  "n calls, preparation and slow calls included, so at the break-even call a mean "
                  "may still be higher."}}}};
  const FoundCalls* resnet = nullptr;
  for (const FoundCalls& found : calls)
    if (found.times && found.times->work.model == "resnet18" && !found.train) resnet = &found;
  if (first_of_models(calls).empty())
    report.document.headline = fmt::format("{}: {}.", calls.front().work, calls.front().why_not);
  else
    describe_calls(calls, mistakes, run, report);
  report.why.push_back(why_device(calls, run.context));
  fields.published = published_speeds(resnet, run.context.device->host_accessible());
  report.document.sections.push_back(
      {"Published results",
       {PageTable{published_table(fields.published),
                  "Other machines and another program, for orientation only. Here: ResNet-18 with "
                  "the batch size of the last such row above."}},
       /*folded=*/true});
  for (const FoundCalls& found : calls)
    if (found.times) fields.works.push_back({found.work, *found.times});
  for (const FoundMistakes& found : mistakes)
    if (found.times) fields.naive.push_back(*found.times);
  report.results = results_of(std::move(fields));
  return report;
}

}  // namespace hone
