#include "hone/jobs/learning_curve.h"

#include <map>

#include "hone/report/scattered_curve.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kMostPoints = 400;

std::vector<Point> loss_points(const std::vector<StepRecord>& steps) {
  std::vector<Point> points;
  for (const StepRecord& step : steps) points.push_back({step.epoch, step.loss});
  return points;
}

Point accuracy_point(const Json& line) {
  const Json& interval = line["eval_accuracy_interval"];
  return {line["epoch"].get<double>(), 100 * line["eval_accuracy"].get<double>(),
          100 * interval[0].get<double>(), 100 * interval[1].get<double>()};
}

Figure learning_curve_figure(const TrainingLog& log, const std::string& title) {
  const ThinnedPoints losses = thinned(loss_points(log.steps()), kMostPoints);
  const std::string of_each =
      losses.mean_of == 1 ? "" : fmt::format(", mean of {} steps", losses.mean_of);
  Series validation_loss{.label = "validation loss"};
  Series accuracy{.label = "validation accuracy", .spread = Spread::bars};
  for (const Json& line : log.lines()) {
    if (!line.contains("eval_accuracy") || line["eval_accuracy"].is_null()) continue;
    accuracy.points.push_back(accuracy_point(line));
    if (line.contains("eval_samples"))
      accuracy.label = "validation accuracy, " + sample_size_text(line);
    if (!line["eval_loss"].is_null())
      validation_loss.points.push_back(
          {line["epoch"].get<double>(), line["eval_loss"].get<double>()});
  }
  const Axis epochs{.label = "Epoch"};
  Figure figure{.title = title,
                .panels = {{.title = "Loss",
                            .x = epochs,
                            .y = {.label = "Loss"},
                            .series = scattered_curve("training loss" + of_each, losses.points)}},
                .width = 1000};
  figure.panels[0].series.push_back(validation_loss);
  if (accuracy.points.size() >= 2) {
    figure.panels.push_back(
        {.title = "Accuracy", .x = epochs, .y = {.label = "Accuracy (%)"}, .series = {accuracy}});
  }
  return figure;
}

}  // namespace

Table learning_curve_table(const TrainingLog& log) {
  Table table({{"step", "Step"},
               {"epoch", "Epoch"},
               {"loss", "Loss"},
               {"learning_rate", "Learning rate"},
               {"grad_norm", "Gradient norm"},
               {"eval_loss", "Validation loss"},
               {"eval_accuracy", "Validation accuracy"},
               {"eval_accuracy_low", "95 % from"},
               {"eval_accuracy_high", "to"}});
  std::map<std::int64_t, const Json*> evaluations;
  for (const Json& line : log.lines())
    if (line.contains("eval_accuracy")) evaluations[line.at("step").get<std::int64_t>()] = &line;
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
      const Json& interval = e["eval_accuracy_interval"];
      row.insert(row.end(), {cell(e["eval_loss"]), cell(e["eval_accuracy"]), cell(interval[0]),
                             cell(interval[1])});
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
    section.blocks.push_back(figure_block(learning_curve_figure(log, title), stem,
                                          "Loss and validation accuracy against epochs", notes));
  return section;
}

}  // namespace hone
