#include "hone/labs/speed_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

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
    if (const auto* fresh = row_of(comparisons, way.way, "fresh"))
      row.break_even_fresh = fresh->break_even_call;
    if (const auto* warm = row_of(comparisons, way.way, "warm")) {
      row.speedup = warm->speedup;
      row.break_even_warm = warm->break_even_call;
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
    overview.push_back({.work = found.work, .device = other.name, .why_not = other.why_not});
  }
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
        [&](const WayTimes& way) {
          std::vector<double> values;
          for (const CallSeries& series : way.fresh) values.push_back(series.calls_ms.at(call));
          return std::optional(median_of(std::move(values)));
        });
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

/// The executor that is prepared the most against the first, which is prepared the least.
struct PreparedMost {
  LabExecutorResult first, ready;
  ExecutorComparisonResult fresh, warm;

  bool faster() const { return ready.speedup && ready.speedup->shown_faster(); }
  bool slower() const { return ready.speedup && ready.speedup->shown_slower(); }
  std::string speedup() const {
    return ready.speedup ? speedup_text(*ready.speedup) : "too few calls to compare";
  }
  std::string ahead() const {
    return break_even_text({.call = fresh.break_even_call,
                            .low = fresh.break_even_low.value_or(1),
                            .high = fresh.break_even_high});
  }
};

PreparedMost prepared_most(const FoundCalls& found) {
  const std::vector<LabExecutorResult> rows = executors_of(found);
  const std::vector<ExecutorComparisonResult> comparisons = found.times->comparisons();
  const std::string& ready = *rows.back().executor;
  return {rows.front(), rows.back(), *row_of(comparisons, ready, "fresh"),
          *row_of(comparisons, ready, "warm")};
}

std::string headline_of(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  const std::string starts = fmt::format("{} ms to its first output in a fresh process, {} {} ms",
                                         three_digits(*one.ready.start_ms), *one.first.executor,
                                         three_digits(*one.first.start_ms));
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  if (one.slower())
    return fmt::format("{}: {} is slower than {} after warm-up, too: {} per call. It needs {}",
                       found.work, ready, first, one.speedup(), starts);
  if (!one.faster())
    return fmt::format("{}: no difference per call is shown between {} and {}: {}. {} needs {}",
                       found.work, ready, first, one.speedup(), ready, starts);
  if (one.fresh.extra_ms + one.fresh.second_extra_ms > 0)
    return fmt::format(
        "{}: the first calls hide the gain. {} needs {}; each later call is {}, so "
        "it is ahead {}",
        found.work, ready, starts, one.speedup(), one.ahead());
  return fmt::format(
      "{}: here {} looks faster at once: per call it is {} than {}, and preparation "
      "costs less than the first calls save. It needs {}, and is ahead {}",
      found.work, ready, one.speedup(), first, starts, one.ahead());
}

std::string why_first_call(const FoundCalls& found) {
  const PreparedMost one = prepared_most(found);
  const std::string &ready = *one.ready.executor, &first = *one.first.executor;
  std::string text = fmt::format(
      "A loop of n calls that begins with an unprepared model measures (preparation + n calls) / "
      "n. "
      "Preparation comes once; only later calls earn it back. The break-even call is 1 + (extra "
      "time of preparation and the first two calls) / (time saved per later call). In fresh "
      "processes of {}, the first output of {} comes {} ms {} than that of {}, the second call "
      "takes "
      "{} ms {}, and each later call {} ms {}.",
      found.work, ready, three_digits(std::abs(one.fresh.extra_ms)),
      one.fresh.extra_ms > 0 ? "later" : "earlier", first,
      three_digits(std::abs(one.fresh.second_extra_ms)),
      one.fresh.second_extra_ms > 0 ? "more" : "less", three_digits(std::abs(one.fresh.gain_ms)),
      one.fresh.gain_ms > 0 ? "less" : "more");
  if (one.faster())
    text += fmt::format(" So {} is ahead {}.", ready, one.ahead());
  else if (one.slower())
    text += fmt::format(" This run contradicts a gain: {} is {} per call, so it never gets ahead.",
                        ready, one.speedup());
  else
    text += fmt::format(
        " This run does not show a gain per call ({}), so no break-even call is known. {}",
        one.speedup(),
        one.warm.rounds_to_tell ? fmt::format("About {} calls in turn would show a difference of "
                                              "this size.",
                                              grouped(*one.warm.rounds_to_tell))
                                : "More calls on an idle machine would show a smaller difference.");
  std::vector<std::string> loops;
  for (const auto& [n, ratio] :
       {std::pair{5, one.ready.ratio_5}, {20, one.ready.ratio_20}, {100, one.ready.ratio_100}})
    if (ratio) loops.push_back(fmt::format("{}× at n = {}", three_digits(*ratio), n));
  if (!loops.empty())
    text += fmt::format(" With preparation timed, loops report a speedup of {}.",
                        fmt::join(loops, ", "));
  if (one.ready.ratio_100_later)
    text += fmt::format(" Of 100 calls after warm-up it is {}×.",
                        three_digits(*one.ready.ratio_100_later));
  return text;
}

std::string why_stages(const FoundCalls& found) {
  const WayTimes& ready = found.times->ways.back();
  std::string text =
      "torch.compile has three parts, all of which work in the first call: Dynamo captures Python "
      "bytecode as a graph, AOT Autograd adds the backward graph, and Inductor fuses operations "
      "and "
      "generates code. hone captures nothing from Python: a model is a graph when it has been "
      "read. "
      "Gradients are a part of that graph, and passes and planning fuse operations, choose kernels "
      "and generate machine code, which a cache on disk keeps for later processes.";
  std::vector<std::string> stages;
  for (const Counterpart& one : kCounterparts)
    if (const std::optional<double> ms = stage_ms(ready, one.stage))
      stages.push_back(fmt::format("{} {} ms", one.stage, three_digits(*ms)));
  return text +
         fmt::format(" For {}, {} spent: {}.", found.work, ready.way, fmt::join(stages, ", "));
}

// Kinds that move memory of which `in` has more than `than`, those with the most bytes first: "attention (2), fused_linear (7)".
std::string more_in(const WayTimes& in, const WayTimes& than) {
  std::vector<std::string> kinds;
  for (const OperationKind& kind : in.graph) {
    const OperationKind* other = kind_of(than, kind.operation);
    const std::int64_t more = kind.nodes - (other != nullptr ? other->nodes : 0);
    if (kind.moved_bytes > 0 && more > 0)
      kinds.push_back(fmt::format("{} ({})", kind.operation, more));
  }
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ", "));
}

std::string why_fusion(const FoundCalls& found) {
  const WayTimes &first = found.times->ways.front(), &ready = found.times->ways.back();
  return fmt::format(
      "A fused operation does not write its intermediate results to memory and read them again. "
      "For "
      "{}, {} runs {} operations that move {}, {} runs {} that move {}. No longer on their own: "
      "{}. "
      "In their place: {}. These bytes are counted without caches, so time falls by less where "
      "intermediate results fit into them. {} also allocates memory and packs weights anew in "
      "every "
      "call.",
      found.work, first.way, first.operations(),
      human_bytes(static_cast<double>(first.moved_bytes())), ready.way, ready.operations(),
      human_bytes(static_cast<double>(ready.moved_bytes())), more_in(first, ready),
      more_in(ready, first), first.way);
}

// "1.10× the correct latency (95% CI 1.09 to 1.11)", "no effect shown (0.98×, 95% CI 0.91 to 1.01)"
std::string cost_text(const NaiveMistake& mistake) {
  if (!mistake.ratio) return "not run: " + mistake.why_not.value();
  const Interval& interval = mistake.ratio_interval.value();
  const std::string ratio = three_digits(*mistake.ratio) + "×",
                    ends = fmt::format("95% CI {} to {}", three_digits(interval.low),
                                       three_digits(interval.high));
  if (interval.low > 1) return fmt::format("{} the correct latency ({})", ratio, ends);
  if (interval.high < 1) return fmt::format("{} the correct latency ({}), too fast", ratio, ends);
  return fmt::format("no effect shown ({}, {})", ratio, ends);
}

std::string why_mistakes(const FoundMistakes& found) {
  std::string text = fmt::format("Each mistake alone, for {}.", found.work);
  for (const NaiveMistake& one : found.times->mistakes) {
    if (one.name == "n = 5") {
      text += fmt::format(
          " 95% of the means of five warm calls are {} to {}× the correct latency, so "
          "n = 5 cannot show a smaller difference.",
          three_digits(one.ratio_interval.value().low), three_digits(one.ratio_interval->high));
      continue;
    }
    const std::string name = one.name == "training mode"        ? "Without eval(), dropout stays"
                             : one.name == "gradients recorded" ? "Without no_grad(), activations "
                                                                  "are kept for gradients"
                                                                : capitalized(one.name);
    text += fmt::format(" {}: {}.", name, cost_text(one));
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

std::string why_models(const std::vector<const FoundCalls*>& models) {
  std::string text =
      "Fusion removes traffic and starts of operations; products and convolutions cost "
      "the same. So it gains most where small operations take much of a call.";
  for (const FoundCalls* found : models)
    text += fmt::format(" {}: {}.", found->work, prepared_most(*found).speedup());
  return text;
}

std::string why_device(const std::vector<FoundCalls>& calls, Context& context) {
  const OtherDevice other = other_device(context);
  if (context.device->host_accessible())
    return fmt::format(
        "On CUDA: {}. A GPU computes while the host starts the next operation, so a small model "
        "waits for starts; the interpreter captures a run that comes for the third time as a CUDA "
        "graph, which one start runs. `hone lab 4.1 --device cuda` measures it.",
        other.why_not);
  std::string text = fmt::format(
      "On {}, the same effects have other causes: a small model waits for the host, which starts "
      "each operation. The interpreter captures a run that comes for the third time as a CUDA "
      "graph, which one start runs, so its first calls do not show the gain.",
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
  return {
      {"CPU, warm process", "1.32× to 1.63× faster", here(true, warm), source},
      {"CPU, the compilation counted", "1.06× faster", here(true, counted), source},
      {"CPU, mean of n = 5", "24.5 s against 15.3 s", here(true, five), "report 001"},
      {"CPU, mean of n = 20", "14.2 s against 15.0 s: with n = 5 the break-even is near call 17",
       here(true, twenty), "report 001"},
      {"CUDA", "1.18× slower", here(false, warm), "report 001"},
      {"CUDA", "1.3× faster", here(false, warm), "report 003"},
      {"CUDA", "3.0× faster", here(false, warm), "report 002"}};
}

Block calls_figure(const FoundCalls& found, const LabRun& run, Document& document) {
  return figure_block(iterations_figure(*found.times), run.folder() / ("calls_" + found.stage),
                      "The time of each call, and the total time, against the number of calls",
                      document.notes);
}

// `figure`: nothing where the page has it already.
Section calls_section(const FoundCalls& found, std::optional<Block> figure) {
  const IterationTimes& times = *found.times;
  Section section{found.work, {}, /*folded=*/true};
  for (const std::string& sentence : times.findings())
    section.blocks.push_back(Paragraph{sentence});
  if (figure) section.blocks.push_back(std::move(*figure));
  section.blocks.push_back(PageTable{
      executor_table(times),
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
                                     "Operations, and bytes of their operands and results without "
                                     "caches: fusion lowers both."});
  return section;
}

Section mistakes_section(const std::vector<FoundMistakes>& mistakes) {
  Section section{"Benchmarking mistakes", {}};
  for (const FoundMistakes& found : mistakes)
    section.blocks.push_back(
        found.times ? Block(PageTable{
                          naive_table(*found.times),
                          fmt::format("{}: each mistake alone, with the 95% confidence interval "
                                      "of the median; the interval of n = 5 holds 95% of such "
                                      "means.",
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
  document.headline = headline_of(first);
  for (const FoundCalls* found : models) {
    const PreparedMost one = prepared_most(*found);
    document.key_figures.push_back(
        {found->work,
         fmt::format("{} against {}: {} per call{}", *one.ready.executor, *one.first.executor,
                     one.speedup(), one.faster() ? ", ahead " + one.ahead() : "")});
  }
  const IterationTimes& times = *first.times;
  document.evidence = fmt::format(
      "{}: medians of {} calls in turn in one process, without the first {}, and {} fresh "
      "processes "
      "of each executor; on {}. Confidence intervals are of one process.",
      first.work, times.iterations, times.ignored, times.ways.front().fresh.size(),
      ran_on(times.work.device, times.work.threads));
  report.why = {why_first_call(first), why_stages(prepared), why_fusion(first)};
  if (const auto found = std::ranges::find_if(
          mistakes, [](const FoundMistakes& one) { return one.times.has_value(); });
      found != mistakes.end())
    report.why.push_back(why_mistakes(*found));
  report.why.push_back(why_models(models));
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
                  "confidence interval. n: by means of n calls, preparation included."}}}};
  const FoundCalls* resnet = nullptr;
  for (const FoundCalls& found : calls)
    if (found.times && found.times->work.model == "resnet18" && !found.train) resnet = &found;
  if (first_of_models(calls).empty())
    report.document.headline = fmt::format("{}: {}", calls.front().work, calls.front().why_not);
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
