#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/paired_times.h"
#include "hone/report/field_table.h"

// The report of `bench_iterations`.
namespace hone {
namespace {

constexpr std::int64_t kLoopLengths[] = {5, 20, 100};
constexpr std::string_view kWarm = "warm";

/// Calls of one executor in one kind of process.
struct ExecutorSummary {
  std::string executor;
  std::string process;  // "warm", "fresh"
  std::span<const CallSeries> all;
  /// Medians over processes, with the smallest and largest value of several.
  ValueWithInterval start_ms = {}, first_ms = {};
  ValueWithInterval median_ms =
      {};                    // of one process with its 95% interval, or the medians of several
  CallSummary summary = {};  // calls of all processes together; interval of one process only

  bool has_interval() const { return all.size() > 1 || summary.median_interval.has_value(); }
};

ValueWithInterval median_with_range(std::vector<double> values) {
  std::ranges::sort(values);
  return {median_of_sorted(values), values.front(), values.back()};
}

template <typename ValueOf>
std::vector<double> of_each(std::span<const CallSeries> all, ValueOf&& value_of) {
  std::vector<double> values;
  for (const CallSeries& one : all) values.push_back(std::invoke(value_of, one));
  return values;
}

ExecutorSummary summarize(const std::string& executor, const std::string& process,
                          std::span<const CallSeries> all, std::size_t ignored) {
  ExecutorSummary one{.executor = executor, .process = process, .all = all};
  CallSeries together;
  for (const CallSeries& s : all)
    together.calls_ms.insert(together.calls_ms.end(),
                             s.calls_ms.begin() + static_cast<std::ptrdiff_t>(ignored),
                             s.calls_ms.end());
  one.summary = summary_of(together, 0);
  one.start_ms = median_with_range(of_each(all, &CallSeries::start_ms));
  one.first_ms =
      median_with_range(of_each(all, [](const CallSeries& s) { return s.calls_ms.front(); }));
  one.median_ms = median_with_range(
      of_each(all, [&](const CallSeries& s) { return summary_of(s, ignored).median_ms; }));
  if (all.size() == 1 && one.summary.median_interval)
    one.median_ms = {one.summary.median_ms, one.summary.median_interval->low,
                     one.summary.median_interval->high};
  return one;
}

std::vector<ExecutorSummary> summaries_of(const ExecutorCalls& calls, std::int64_t ignored) {
  const auto first = static_cast<std::size_t>(ignored);
  std::vector<ExecutorSummary> all;
  if (!calls.fresh.empty()) all.push_back(summarize(calls.executor, "fresh", calls.fresh, first));
  if (calls.warm)
    all.push_back(summarize(calls.executor, std::string(kWarm), std::span(&*calls.warm, 1), first));
  return all;
}

// Returns the calls of the first executor in the same kind of process, if any.
std::optional<ExecutorSummary> same_process(const IterationTimes& times,
                                            const ExecutorSummary& one) {
  for (const ExecutorSummary& first : summaries_of(times.executors.front(), times.ignored))
    if (first.process == one.process) return first;
  return std::nullopt;
}

std::vector<std::int64_t> loop_lengths(std::int64_t calls) {
  std::vector<std::int64_t> lengths;
  for (const std::int64_t n : kLoopLengths)
    if (n < calls) lengths.push_back(n);
  lengths.push_back(calls);
  return lengths;
}

/// Another executor compared with the first in one kind of process.
struct ExecutorComparison {
  std::string process;
  std::optional<TimesInTurn> turns = {};  ///< of calls in turn
  std::optional<std::int64_t> rounds_to_detect = {};
  ValueWithInterval extra_ms = {}, gain_ms = {};
  double second_extra_ms = 0;
  BreakEven even = {};
};

std::span<const double> counted_calls(const CallSeries& series, std::int64_t ignored) {
  return std::span(series.calls_ms).subspan(static_cast<std::size_t>(ignored));
}

// Returns how much less time a call takes than with the first executor: the median difference of calls in turn, or the
// difference of the medians in other processes.
ValueWithInterval gain_of(const ExecutorSummary& first, const ExecutorSummary& one,
                          std::int64_t ignored, bool took_turns) {
  if (!took_turns)
    return {first.median_ms.value - one.median_ms.value, first.median_ms.low - one.median_ms.high,
            first.median_ms.high - one.median_ms.low};
  const std::span<const double> a = counted_calls(first.all.front(), ignored),
                                b = counted_calls(one.all.front(), ignored);
  std::vector<double> gains;
  for (std::size_t i = 0; i < a.size(); ++i) gains.push_back(a[i] - b[i]);
  std::ranges::sort(gains);
  const double gain = median_of_sorted(gains);
  if (gains.size() < kFewestForMedianInterval) return {gain, gain, gain};
  const Interval interval = median_interval(gains);
  return {gain, interval.low, interval.high};
}

// Returns how much longer the second call takes than the counted ones, since it packs weights.
double of_second_call(const ExecutorSummary& one) {
  std::vector<double> extra;
  for (const CallSeries& series : one.all)
    if (series.calls_ms.size() > 1) extra.push_back(series.calls_ms[1] - one.median_ms.value);
  return extra.empty() ? 0 : median_with_range(std::move(extra)).value;
}

ExecutorComparison compare_summaries(const ExecutorSummary& first, const ExecutorSummary& one,
                                     std::int64_t ignored) {
  ExecutorComparison found{.process = one.process};
  const bool took_turns = one.process == "warm";
  const std::span<const double> a = counted_calls(first.all.front(), ignored),
                                b = counted_calls(one.all.front(), ignored);
  if (took_turns && a.size() >= kFewestForMedianInterval) {
    found.turns = compare_rounds(a, b);
    found.rounds_to_detect = rounds_to_detect(a, b);
  }
  found.extra_ms = {one.start_ms.value - first.start_ms.value,
                    one.start_ms.low - first.start_ms.high, one.start_ms.high - first.start_ms.low};
  found.gain_ms = gain_of(first, one, ignored, took_turns);
  found.second_extra_ms = of_second_call(one) - of_second_call(first);
  found.even = break_even(found.extra_ms, found.second_extra_ms, found.gain_ms);
  return found;
}

// Compares all executors but the first.
std::vector<std::pair<std::string, ExecutorComparison>> comparisons_of(
    const IterationTimes& times) {
  std::vector<std::pair<std::string, ExecutorComparison>> all;
  for (std::size_t i = 1; i < times.executors.size(); ++i)
    for (const ExecutorSummary& one : summaries_of(times.executors[i], times.ignored))
      if (const std::optional<ExecutorSummary> first = same_process(times, one))
        all.emplace_back(times.executors[i].executor,
                         compare_summaries(*first, one, times.ignored));
  return all;
}

// Says how precisely the median of one process is known.
std::string precision_sentence(const ExecutorCalls& calls, const CallSeries& series,
                               std::int64_t ignored) {
  const auto first = static_cast<std::size_t>(ignored);
  const CallSummary summary = summary_of(series, first);
  if (!summary.median_interval)
    return fmt::format(
        "{}: {} calls are too few for a confidence interval of the median, which needs {}.",
        calls.executor, summary.calls, kFewestForMedianInterval);
  if (const std::optional<Interval> phases = phases_of(series, first))
    return fmt::format(
        "{}: latency drifted, with medians of {} to {} ms in each fifth of the calls: other "
        "programs "
        "were running, or the clock frequency changed. The confidence interval assumes independent "
        "calls and is too narrow; repeat the benchmark, longer or on an idle machine.",
        calls.executor, three_digits(phases->low), three_digits(phases->high));
  if (!summary.calls_for_one_percent) return "";
  return fmt::format(
      "{}: the median of {} calls in a {} process is accurate to {}%; about {} calls would "
      "make "
      "it accurate to 1%.",
      calls.executor, summary.calls, calls.warm ? kWarm : std::string_view("fresh"),
      three_digits(100 *
                   std::max(summary.median_interval->high - summary.median_ms,
                            summary.median_ms - summary.median_interval->low) /
                   summary.median_ms),
      grouped(*summary.calls_for_one_percent));
}

bool shows_difference(const ExecutorComparison& found) {
  return found.turns->shown_faster() || found.turns->shown_slower();
}

// Returns the executors that calls in turn do not show to differ from the first: their break-even call would be chance.
std::set<std::string> indistinguishable_executors(
    const std::vector<std::pair<std::string, ExecutorComparison>>& comparisons) {
  std::set<std::string> alike;
  for (const auto& [executor, found] : comparisons)
    if (found.turns && !shows_difference(found)) alike.insert(executor);
  return alike;
}

std::string turns_sentence(const std::string& executor, const std::string& first,
                           const ExecutorComparison& found) {
  std::string text =
      fmt::format("{} against {}, call by call: {}", executor, first, speedup_text(*found.turns));
  if (shows_difference(found)) return text + ".";
  return text + (found.rounds_to_detect
                     ? fmt::format(
                           "; about {} rounds would show a difference of this size with 80% power.",
                           grouped(*found.rounds_to_detect))
                     : std::string("; they are practically equal."));
}

// The layout of memory differs between processes and changes times, which no interval within one process covers.
std::string processes_sentence(const ExecutorSummary& first, const ExecutorSummary& one) {
  return fmt::format(
      "{} against {}, in {} fresh processes of each: {} by their medians, {} between any two "
      "processes. A confidence interval of one process does not cover this.",
      one.executor, first.executor, one.all.size(),
      speed_text(first.median_ms.value / one.median_ms.value),
      speed_range_text(first.median_ms.low / one.median_ms.high,
                       first.median_ms.high / one.median_ms.low));
}

// `differ`: whether one of them is shown to be faster call by call; otherwise a break-even call would be chance.
std::string even_sentence(const std::string& executor, const std::string& first,
                          const ExecutorComparison& found, bool differ) {
  const char* const starts = found.process == kWarm ? ", started once," : "";
  // `second_extra_ms` is relative to later calls, so it is not the difference between the second calls.
  const double second = found.second_extra_ms - found.gain_ms.value;
  if (!differ)
    return fmt::format(
        "In a {} process{} no break-even call of {} against {} is known, as no difference per call "
        "is shown. The first output took {} ms {}, the second call {} ms {}.",
        found.process, starts, executor, first, three_digits(std::abs(found.extra_ms.value)),
        found.extra_ms.value > 0 ? "more" : "less", three_digits(std::abs(second)),
        second > 0 ? "more" : "less");
  return fmt::format(
      "In a {} process{} {} is ahead of {} {}: the first output takes {} ms {}, the second call {} "
      "ms {}, each later call {} ms {}.",
      found.process, starts, executor, first, break_even_text(found.even),
      three_digits(std::abs(found.extra_ms.value)), found.extra_ms.value > 0 ? "more" : "less",
      three_digits(std::abs(second)), second > 0 ? "more" : "less",
      three_digits(std::abs(found.gain_ms.value)), found.gain_ms.value > 0 ? "less" : "more");
}

// Returns the typical calls: those of a warm process, if there is one.
ExecutorSummary usual_calls(const ExecutorCalls& calls, std::int64_t ignored) {
  return summaries_of(calls, ignored).back();
}

// Returns the comparison of calls in turn; null if there is none.
const TimesInTurn* turns_of(
    const std::vector<std::pair<std::string, ExecutorComparison>>& comparisons,
    const std::string& executor) {
  for (const auto& [name, found] : comparisons)
    if (name == executor && found.turns) return &*found.turns;
  return nullptr;
}

std::string iterations_headline(
    const IterationTimes& times,
    const std::vector<std::pair<std::string, ExecutorComparison>>& comparisons) {
  const ExecutorSummary first = usual_calls(times.executors.front(), times.ignored);
  const std::string own =
      fmt::format("{}: {} ms per call", first.executor, three_digits(first.median_ms.value));
  if (times.executors.size() == 1)
    return own + fmt::format(", first output after {} ms", three_digits(first.start_ms.value));
  const std::pair<std::string, ExecutorComparison>* best = nullptr;  // with the highest speedup
  for (const auto& one : comparisons)
    if (one.second.turns &&
        (best == nullptr || one.second.turns->speedup > best->second.turns->speedup))
      best = &one;
  if (best == nullptr) return own;
  const auto& [executor, found] = *best;
  if (!shows_difference(found))
    return fmt::format("{}: no difference in latency shown against {}", executor, first.executor);
  return fmt::format("{}: {} per call than {}{}", executor, speed_text(found.turns->speedup),
                     first.executor,
                     found.even.call ? ", ahead " + break_even_text(found.even) : "");
}

}  // namespace

std::vector<ExecutorTimesResult> IterationTimes::times() const {
  std::vector<ExecutorTimesResult> rows;
  for (const ExecutorCalls& calls : executors)
    for (const ExecutorSummary& one : summaries_of(calls, ignored)) {
      ExecutorTimesResult row{.executor = one.executor,
                              .process = one.process,
                              .processes = std::ssize(one.all),
                              .start_ms = one.start_ms.value,
                              .first_ms = one.first_ms.value,
                              .min_ms = one.summary.min_ms,
                              .median_ms = one.median_ms.value,
                              .p95_ms = one.summary.p95_ms,
                              .counted = static_cast<std::int64_t>(one.summary.calls)};
      if (one.all.size() > 1) {
        row.start_min_ms = one.start_ms.low;
        row.start_max_ms = one.start_ms.high;
      } else {
        row.calls_for_one_percent = one.summary.calls_for_one_percent;
      }
      if (one.has_interval()) {
        row.median_low_ms = one.median_ms.low;
        row.median_high_ms = one.median_ms.high;
      }
      rows.push_back(std::move(row));
    }
  return rows;
}

Table executor_table(const IterationTimes& times) { return headed_table(times.times()); }

Table stage_table(const IterationTimes& times) {
  Table table({{"executor", "Executor"},
               {"process", "Process"},
               {"stage", "Preparation"},
               {"ms", "Time (ms)"}});
  for (const ExecutorCalls& calls : times.executors)
    for (const ExecutorSummary& one : summaries_of(calls, times.ignored)) {
      for (std::size_t i = 0; i < one.all.front().stages.size(); ++i)
        table.add_row({one.executor, one.process, one.all.front().stages[i].name,
                       significant(median_with_range(of_each(one.all, [&](const CallSeries& s) {
                                     return s.stages[i].ms;
                                   })).value)});
      table.add_row({one.executor, one.process, "first call", significant(one.first_ms.value)});
    }
  return table;
}

std::vector<LoopMeanResult> IterationTimes::means() const {
  std::vector<LoopMeanResult> rows;
  const auto skipped = static_cast<std::size_t>(ignored);
  for (const ExecutorCalls& calls : executors)
    for (const ExecutorSummary& one : summaries_of(calls, ignored)) {
      const std::optional<ExecutorSummary> first = same_process(*this, one);
      for (const std::int64_t length : loop_lengths(iterations)) {
        const auto n = static_cast<std::size_t>(length);
        const std::size_t later = std::min(n, one.all.front().calls_ms.size() - skipped);
        // Medians over the processes of their means.
        const auto values = [&](const ExecutorSummary& summary) {
          const auto middle = [&](auto&& mean) {
            return median_with_range(of_each(summary.all, mean)).value;
          };
          return std::array{
              middle([&](const CallSeries& s) { return s.mean_with_preparation_ms(n); }),
              middle([&](const CallSeries& s) { return s.mean_ms(n, 0); }),
              middle([&](const CallSeries& s) { return s.mean_ms(later, skipped); })};
        };
        const auto own = values(one);
        LoopMeanResult row{.executor = calls.executor,
                           .process = one.process,
                           .n = length,
                           .with_preparation_ms = own[0],
                           .mean_ms = own[1],
                           .later_ms = own[2]};
        if (first && executors.size() > 1) {
          const auto others = values(*first);
          row.with_preparation_ratio = others[0] / own[0];
          row.mean_ratio = others[1] / own[1];
          row.later_ratio = others[2] / own[2];
        }
        rows.push_back(std::move(row));
      }
    }
  return rows;
}

Table means_table(const IterationTimes& times) {
  std::vector<Column> columns = {{"executor", "Executor"},
                                 {"process", "Process"},
                                 {"n", "n"},
                                 {"with_ready_ms", "Mean with preparation (ms)"},
                                 {"mean_ms", "Mean of all calls (ms)"},
                                 {"later_ms", "Mean after warm-up (ms)"}};
  const bool compares = times.executors.size() > 1;
  if (compares)
    columns.insert(columns.end(), {{"with_ready_ratio", "Speedup with preparation"},
                                   {"mean_ratio", "Speedup of all calls"},
                                   {"later_ratio", "Speedup after warm-up"}});
  Table table(columns);
  for (const LoopMeanResult& one : times.means()) {
    std::vector<Cell> row = {one.executor,
                             one.process,
                             one.n,
                             significant(one.with_preparation_ms),
                             significant(one.mean_ms),
                             significant(one.later_ms)};
    if (compares)
      for (const std::optional<double>& ratio :
           {one.with_preparation_ratio, one.mean_ratio, one.later_ratio})
        row.push_back(ratio ? significant(*ratio) : Cell(absent));
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<ExecutorComparisonResult> IterationTimes::comparisons() const {
  std::vector<ExecutorComparisonResult> rows;
  const auto found_all = comparisons_of(*this);
  const std::set<std::string> alike = indistinguishable_executors(found_all);
  for (const auto& [executor, found] : found_all) {
    ExecutorComparisonResult row{.executor = executor,
                                 .baseline = executors.front().executor,
                                 .process = found.process,
                                 .rounds_to_detect = found.rounds_to_detect,
                                 .extra_ms = found.extra_ms.value,
                                 .second_extra_ms = found.second_extra_ms,
                                 .gain_ms = found.gain_ms.value};
    if (found.turns) row.speedup = found.turns->ratio();
    if (!alike.contains(executor)) {
      row.break_even_call = found.even.call;
      if (found.even.call) row.break_even_low = found.even.low;
      row.break_even_high = found.even.high;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Table comparison_table(const IterationTimes& times) { return headed_table(times.comparisons()); }

std::vector<std::string> comparison_sentences(const IterationTimes& times) {
  std::vector<std::string> sentences;
  for (const auto& [executor, found] : comparisons_of(times))
    if (found.turns)
      sentences.push_back(turns_sentence(executor, times.executors.front().executor, found));
  for (std::size_t i = 1; i < times.executors.size(); ++i)
    for (const ExecutorSummary& one : summaries_of(times.executors[i], times.ignored))
      if (const std::optional<ExecutorSummary> first = same_process(times, one);
          first && first->all.size() > 1 && one.all.size() > 1)
        sentences.push_back(processes_sentence(*first, one));
  return sentences;
}

std::vector<std::string> IterationTimes::findings() const {
  std::vector<std::string> sentences = comparison_sentences(*this);
  const std::string& first = executors.front().executor;
  const auto found_all = comparisons_of(*this);
  const std::set<std::string> alike = indistinguishable_executors(found_all);
  for (const auto& [executor, found] : found_all)
    sentences.push_back(even_sentence(executor, first, found, !alike.contains(executor)));
  for (const ExecutorCalls& calls : executors) {
    const CallSeries& series = calls.warm ? *calls.warm : calls.fresh.front();
    const std::string sentence = precision_sentence(calls, series, ignored);
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  return sentences;
}

Figure iterations_figure(const IterationTimes& times) {
  Panel each{.title = "Each call",
             .x = {.label = "Call", .logarithmic = true},
             .y = {.label = "Time (ms)", .logarithmic = true}};
  Panel sum{.title = "Cumulative, with preparation",
            .x = {.label = "Calls", .logarithmic = true},
            .y = {.label = "Total time (ms)", .logarithmic = true}};
  for (const ExecutorCalls& executor : times.executors)
    for (const ExecutorSummary& one : summaries_of(executor, times.ignored)) {
      const CallSeries& series = one.all.front();
      const std::string label =
          fmt::format("{}, {}{}", one.executor, one.all.size() > 1 ? "first " : "", one.process);
      Series calls{.label = label, .draw = Draw::line}, sums{.label = label, .draw = Draw::line};
      const std::vector<double> cumulative = series.cumulative_ms();
      for (std::size_t i = 0; i < cumulative.size(); ++i) {
        const auto call = static_cast<double>(i + 1);
        calls.points.push_back({call, series.calls_ms[i]});
        sums.points.push_back({call, cumulative[i]});
      }
      each.series.push_back(std::move(calls));
      sum.series.push_back(std::move(sums));
    }
  return {.title = times.work.what, .panels = {each, sum}, .width = 1100};
}

Document iterations_document(const IterationTimes& times) {
  const auto comparisons = comparisons_of(times);
  Document document{.title = times.work.what, .headline = iterations_headline(times, comparisons)};
  for (const ExecutorCalls& calls : times.executors) {
    const ExecutorSummary one = usual_calls(calls, times.ignored);
    std::string text = fmt::format("{} ms per call", three_digits(one.median_ms.value));
    if (const TimesInTurn* turns = turns_of(comparisons, calls.executor))
      text += ", " + paired_speedup_text(turns->ratio());
    document.key_figures.push_back(
        {calls.executor,
         text + fmt::format("; first output after {} ms", three_digits(one.start_ms.value))});
  }
  document.evidence =
      fmt::format("Medians of {} calls of each executor, without the first {}, of {}.",
                  times.iterations, times.ignored, times.work.what);
  std::vector<Block> findings;
  for (const std::string& sentence : times.findings()) findings.emplace_back(Paragraph{sentence});
  document.sections = {{"", {PageTable{executor_table(times)}}}};
  if (times.executors.size() > 1)
    document.sections.push_back({"Compared with " + times.executors.front().executor,
                                 {PageTable{comparison_table(times)}}});
  document.sections.push_back({"Findings", std::move(findings)});
  if (!times.not_run.empty())
    document.sections.push_back({"Not run", {PageTable{headed_table(times.not_run)}}});
  document.sections.push_back({"Preparation", {PageTable{stage_table(times)}}, /*folded=*/true});
  document.sections.push_back({"Means of n calls", {PageTable{means_table(times)}}, true});
  document.sections.push_back(
      {"How to read this",
       {Paragraph{fmt::format(
           "From and to: the 95% confidence interval of the median in one process, or the smallest "
           "and largest median of several processes. The first {} calls are not counted.",
           times.ignored)}},
       /*folded=*/true});
  return document;
}

}  // namespace hone
