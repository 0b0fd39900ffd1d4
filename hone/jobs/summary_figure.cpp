#include "hone/jobs/summary_figure.h"

#include <functional>
#include <string>

#include "hone/base/text.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

// Two bars that start at 0: the baseline above the compressed model, each with its value.
Panel two_bars(const std::string& label, double before, double after,
               const std::function<std::string(double)>& text) {
  Panel panel{.x = {.label = label},
              .y = {.range = Range{-0.6, 1.6}, .ticks = {{1, "baseline"}, {0, "compressed"}}}};
  panel.series.push_back({.points = {{.x = before, .y = 1, .name = text(before)},
                                     {.x = after, .y = 0, .name = text(after)}},
                          .draw = Draw::bars,
                          .with_names = true});
  return panel;
}

}  // namespace

Figure summary_figure(const ModelSize& size_before, const ModelSize& size, const ModelTimes& times,
                      const TaskEvaluation& before, const TaskEvaluation& after) {
  const auto mib = [](const ModelSize& one) {
    return static_cast<double>(one.stored_bytes) / (1024 * 1024);
  };
  const bool percent = !before.metric.may_be_negative;
  const double scale = percent ? 100 : 1;
  Figure figure{.width = 1000, .height = 240};
  figure.panels = {
      two_bars("Size (MiB)", mib(size_before), mib(size), three_digits),
      two_bars(fmt::format("Latency per example, batch size {} (ms)", times.batch_size),
               times.times.before.median_ms, times.times.after.median_ms, three_digits),
      two_bars(fmt::format("{}{}", metric_title(before.metric), percent ? " (%)" : ""),
               scale * before.value, scale * after.value,
               [](double value) { return fmt::format("{:.1f}", value); })};
  return figure;
}

}  // namespace hone
