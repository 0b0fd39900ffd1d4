#include "hone/jobs/learning_curve.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/text.h"
#include "hone/report/smoothed_curve.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kMostPoints = 400;

std::vector<Point> loss_points(const std::vector<StepRecord>& steps) {
  std::vector<Point> points;
  for (const StepRecord& step : steps) points.push_back({step.epoch, step.loss});
  return points;
}

Point figure_point(const Json& line) {
  const Estimate e = metric_estimate(line);
  return {line["epoch"].get<double>(), 100 * e.value, 100 * e.low, 100 * e.high};
}

// On the validation split; null if nothing was evaluated.
const Json* first_evaluation(const TrainingLog& log) {
  const auto found = std::ranges::find_if(
      log.lines(), [](const Json& line) { return line.contains("eval_loss"); });
  return found == log.lines().end() ? nullptr : &*found;
}

MetricName figure_in(const TrainingLog& log) {
  const Json* evaluation = first_evaluation(log);
  return evaluation == nullptr ? kAccuracy : main_metric_of(*evaluation);
}

Figure learning_curve_figure(const TrainingLog& log, const std::string& title) {
  const ThinnedPoints losses = thinned(loss_points(log.steps()), kMostPoints);
  const std::string of_each =
      losses.mean_of == 1 ? "" : fmt::format(", mean of {} steps", losses.mean_of);
  Series validation_loss{.label = "validation loss"};
  const MetricName name = figure_in(log);
  const std::string what = fmt::format("validation {}", name.text);
  Series figures{.label = what, .spread = Spread::bars};
  for (const Json& line : log.lines()) {
    if (!line.contains("eval_loss") || std::isnan(metric_estimate(line).value)) continue;
    figures.points.push_back(figure_point(line));
    if (line.contains("eval_samples")) figures.label = what + ", " + sample_size_text(line);
    if (!line["eval_loss"].is_null())
      validation_loss.points.push_back(
          {line["epoch"].get<double>(), line["eval_loss"].get<double>()});
  }
  const Axis epochs{.label = "Epoch", .whole_ticks = true};
  const std::string& added = log.added_loss();
  const std::string training = "training loss" + (added.empty() ? "" : " with " + added);
  Figure figure{.title = title,
                .panels = {{.title = added.empty() ? "Loss" : capitalized(training),
                            .x = epochs,
                            .y = {.label = "Loss"},
                            .series = smoothed_curve(training + of_each, losses.points)}},
                .width = 1000};
  if (figure.panels[0].series.size() > 1) {
    figure.panels[0].series.back().draw = Draw::smooth;  // no evaluations are marked on it
    figure.note = "The thick line is a moving average of the thin one.";
  }
  // Losses with other terms are not comparable.
  if (added.empty())
    figure.panels[0].series.push_back(validation_loss);
  else if (validation_loss.points.size() >= 2)
    figure.panels.push_back({.title = "Validation loss",
                             .x = epochs,
                             .y = {.label = "Loss"},
                             .series = {validation_loss}});
  if (figures.points.size() >= 2) {
    const std::string title = metric_title(name);
    figure.panels.push_back(
        {.title = title, .x = epochs, .y = {.label = title + " (%)"}, .series = {figures}});
  }
  return figure;
}

}  // namespace

Table learning_curve_table(const TrainingLog& log) {
  const MetricName figure = figure_in(log);
  const std::string key = fmt::format("eval_{}", figure.key);
  Table table({{"step", "Step"},
               {"epoch", "Epoch"},
               {"loss", "Loss"},
               {"learning_rate", "Learning rate"},
               {"grad_norm", "Gradient norm"},
               {"eval_loss", "Validation loss"},
               {key, fmt::format("Validation {}", figure.text)},
               {key + "_low", "95% from"},
               {key + "_high", "to"}});
  std::map<std::int64_t, const Json*> evaluations;
  for (const Json& line : log.lines())
    if (line.contains("eval_loss")) evaluations[line.at("step").get<std::int64_t>()] = &line;
  const auto cell = [](const Json& value) {
    return value.is_number() ? real(value.get<double>(), 6) : Cell(absent);
  };
  for (const StepRecord& step : log.steps()) {
    std::vector<Cell> row = {step.step, real(step.epoch, 6), real(step.loss, 6),
                             real(step.learning_rate, 9), real(step.grad_norm, 6)};
    const auto found = evaluations.find(step.step);
    if (found == evaluations.end()) {
      row.insert(row.end(), 4, Cell(absent));
    } else {
      const Json& e = *found->second;
      const Json& interval = e[key + "_interval"];
      row.insert(row.end(),
                 {cell(e["eval_loss"]), cell(e[key]), cell(interval[0]), cell(interval[1])});
    }
    table.add_row(std::move(row));
  }
  return table;
}

Section learning_curve_section(const TrainingLog& log, const std::string& title,
                               const fs::path& stem, std::vector<std::string>& notes) {
  write_file(fs::path(stem) += ".csv", to_csv(learning_curve_table(log)));
  Section section{"Learning curve", {}};
  if (log.steps().size() >= 2)
    section.blocks.push_back(figure_block(
        learning_curve_figure(log, title), stem,
        fmt::format("Loss and validation {} against epochs", figure_in(log).text), notes));
  return section;
}

}  // namespace hone
