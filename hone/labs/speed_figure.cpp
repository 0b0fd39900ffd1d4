#include "hone/labs/speed_figure.h"

#include <algorithm>

#include "hone/labs/speed_numbers.h"

namespace hone {
namespace {

// The first calls, which the lab is about, are drawn as measured.
constexpr std::size_t kFirstCalls = 10;

// Returns the median of up to nine calls around each later one, so that single slow calls do not hide the curve.
std::vector<double> running_medians(const std::vector<double>& calls) {
  constexpr std::size_t kAround = 4;
  std::vector<double> medians;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t around = i < kFirstCalls ? 0 : std::min(kAround, calls.size() - 1 - i);
    medians.push_back(median_of({calls.begin() + static_cast<std::ptrdiff_t>(i - around),
                                 calls.begin() + static_cast<std::ptrdiff_t>(i + around + 1)}));
  }
  return medians;
}

// Returns the means of loops of 1, 2, … calls that include preparation: the medians over fresh processes.
std::vector<double> loop_means(const ExecutorCalls& calls) {
  std::vector<double> means;
  for (std::size_t n = 1; n <= calls.fresh.front().calls_ms.size(); ++n) {
    std::vector<double> of_processes;
    for (const CallSeries& series : calls.fresh)
      of_processes.push_back(series.mean_with_preparation_ms(n));
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

}  // namespace

Block calls_figure(const WorkloadCalls& found, const LabRun& run, Document& document) {
  const IterationTimes& times = *found.times;
  Panel warm{.title = "Each call in a warm process",
             .x = {.label = "Call", .logarithmic = true},
             .y = {.label = "Time (ms)", .logarithmic = true}};
  Panel fresh{.title = "Mean of the first n calls of a fresh process",
              .x = {.label = "Calls n", .logarithmic = true},
              .y = {.label = "Mean with preparation (ms)", .logarithmic = true}};
  for (const ExecutorCalls& calls : times.executors) {
    warm.series.push_back(line_of(calls.executor, running_medians(calls.warm.value().calls_ms)));
    fresh.series.push_back(line_of(calls.executor, loop_means(calls)));
  }
  Block block = figure_block({.title = found.work, .panels = {warm, fresh}, .width = 1100},
                             run.folder() / ("calls_" + found.stage),
                             "The time of each call of a warm process, and the mean of the first "
                             "calls of fresh processes, a line for each executor",
                             document.notes);
  if (auto* figure = std::get_if<PageFigure>(&block))
    figure->caption = fmt::format(
        "{}. Warm process: the first {} calls as measured, then the median of up to nine calls "
        "around each. Fresh process: with preparation, {}Means include slow calls, so lines may "
        "cross at another call than the estimate from medians.",
        found.work, kFirstCalls,
        times.executors.front().fresh.size() == 1
            ? "one process of each executor. "
            : fmt::format("the median of {} processes of each executor. ",
                          times.executors.front().fresh.size()));
  return block;
}

}  // namespace hone
