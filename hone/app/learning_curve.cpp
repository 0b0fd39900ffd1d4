#include "hone/app/learning_curve.h"

#include <algorithm>

namespace hone {
namespace {

Cell cell(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found == line.end() || found->is_null() ? Cell(absent) : real(found->get<double>(), 6);
}

Point accuracy_point(const Json& line) {
  const Json& interval = line["eval_accuracy_interval"];
  return {line["epoch"].get<double>(), 100 * line["eval_accuracy"].get<double>(),
          100 * interval[0].get<double>(), 100 * interval[1].get<double>()};
}

Figure learning_curve_figure(const std::vector<Json>& lines, const std::string& title) {
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
  return figure;
}

}  // namespace

Table learning_curve_table(const std::vector<Json>& lines) {
  constexpr const char* kKeys[] = {"epoch",     "loss",      "learning_rate",
                                   "grad_norm", "eval_loss", "eval_accuracy"};
  std::vector<Column> columns = {{"step", "Step"}};
  for (const char* key : kKeys) columns.push_back({key, key});
  columns.push_back({"eval_accuracy_low", "95 % from"});
  columns.push_back({"eval_accuracy_high", "to"});
  Table table(std::move(columns));
  for (const Json& line : lines) {
    std::vector<Cell> row = {line.at("step").get<std::int64_t>()};
    for (const char* key : kKeys) row.push_back(cell(line, key));
    const Json interval = line.value("eval_accuracy_interval", Json());
    const bool known = interval.is_array() && interval[0].is_number() && interval[1].is_number();
    for (const int end : {0, 1})
      row.push_back(known ? real(interval[end].get<double>(), 6) : Cell(absent));
    table.add_row(std::move(row));
  }
  return table;
}

Section learning_curve_section(const std::vector<Json>& lines, const std::string& title,
                               const fs::path& stem, std::vector<std::string>& notes) {
  write_file(fs::path(stem) += ".csv", to_csv(learning_curve_table(lines)));
  Section section{"Learning curve", {}};
  const auto losses =
      std::ranges::count_if(lines, [](const Json& line) { return line.contains("loss"); });
  if (losses >= 2)
    section.blocks.push_back(figure_block(learning_curve_figure(lines, title), stem,
                                          "Loss and validation accuracy against epochs", notes));
  return section;
}

}  // namespace hone
