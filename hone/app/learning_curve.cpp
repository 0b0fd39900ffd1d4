#include "hone/app/learning_curve.h"

#include "hone/base/error.h"
#include "hone/report/figure.h"

namespace hone {
namespace {

Point accuracy_point(const Json& line) {
  const Json& interval = line["eval_accuracy_interval"];
  return {line["epoch"].get<double>(), 100 * line["eval_accuracy"].get<double>(),
          100 * interval[0].get<double>(), 100 * interval[1].get<double>()};
}

}  // namespace

std::string draw_learning_curve(const std::vector<Json>& lines, const std::string& title,
                                const fs::path& stem) {
  Series loss{.label = "training loss", .draw = Draw::line};
  Series validation_loss{.label = "validation loss"};
  Series accuracy{.label = "validation accuracy", .spread = Spread::bars};
  for (const Json& line : lines) {
    if (line.contains("loss"))
      loss.points.push_back({line["epoch"].get<double>(), line["loss"].get<double>()});
    if (!line.contains("eval_accuracy") || line["eval_accuracy"].is_null()) continue;
    accuracy.points.push_back(accuracy_point(line));
    if (!line["eval_loss"].is_null())
      validation_loss.points.push_back(
          {line["epoch"].get<double>(), line["eval_loss"].get<double>()});
  }
  if (loss.points.size() < 2) return "";
  const Axis epochs{.label = "Epoch"};
  Figure figure{
      .title = title,
      .panels = {{.title = "Loss", .x = epochs, .y = {.label = "Loss"}, .series = {loss}}},
      .width = 1000};
  if (!accuracy.points.empty()) {
    figure.panels[0].series.push_back(validation_loss);
    figure.panels.push_back(
        {.title = "Accuracy", .x = epochs, .y = {.label = "Accuracy (%)"}, .series = {accuracy}});
  }
  try {
    write_figure(figure, stem);
  } catch (const UserError& error) {
    return fmt::format("no learning curve was drawn: {}", error.what());
  }
  return "";
}

}  // namespace hone
