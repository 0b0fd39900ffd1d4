#include "hone/app/learning_curve.h"

#include <algorithm>
#include <map>

namespace hone {
namespace {

constexpr std::size_t kMostPoints = 400;

// Loss against epochs; of more steps than points, means of as many as it takes.
std::vector<Point> loss_points(const std::vector<StepRecord>& steps, std::size_t window) {
  std::vector<Point> points;
  for (std::size_t begin = 0; begin < steps.size(); begin += window) {
    const std::size_t end = std::min(begin + window, steps.size());
    Point mean{0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      mean.x += steps[i].epoch / static_cast<double>(end - begin);
      mean.y += steps[i].loss / static_cast<double>(end - begin);
    }
    points.push_back(mean);
  }
  return points;
}

// The mean of each point and its neighbours, a twentieth of all at most: what the noise of single steps hides.
std::vector<Point> smoothed(const std::vector<Point>& points) {
  const std::size_t reach = points.size() / 40;
  std::vector<Point> means = points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t near = std::min({reach, i, points.size() - 1 - i});
    double sum = 0;
    for (std::size_t j = i - near; j <= i + near; ++j) sum += points[j].y;
    means[i].y = sum / static_cast<double>(2 * near + 1);
  }
  return means;
}

Point accuracy_point(const Json& line) {
  const Json& interval = line["eval_accuracy_interval"];
  return {line["epoch"].get<double>(), 100 * line["eval_accuracy"].get<double>(),
          100 * interval[0].get<double>(), 100 * interval[1].get<double>()};
}

Figure learning_curve_figure(const TrainingLog& log, const std::string& title) {
  const std::size_t window = (log.steps().size() + kMostPoints - 1) / kMostPoints;
  const std::string of_each = window == 1 ? "" : fmt::format(", mean of {} steps", window);
  const std::vector<Point> losses = loss_points(log.steps(), window);
  const Series single{.label = "training loss" + of_each, .points = losses, .draw = Draw::faint},
      loss{.label = single.label, .points = smoothed(losses), .draw = Draw::line};
  Series validation_loss{.label = "validation loss"};
  Series accuracy{.label = "validation accuracy", .spread = Spread::bars};
  for (const Json& line : log.lines()) {
    if (!line.contains("eval_accuracy") || line["eval_accuracy"].is_null()) continue;
    accuracy.points.push_back(accuracy_point(line));
    if (!line["eval_loss"].is_null())
      validation_loss.points.push_back(
          {line["epoch"].get<double>(), line["eval_loss"].get<double>()});
  }
  const Axis epochs{.label = "Epoch"};
  Figure figure{
      .title = title,
      .panels = {{.title = "Loss", .x = epochs, .y = {.label = "Loss"}, .series = {single, loss}}},
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
