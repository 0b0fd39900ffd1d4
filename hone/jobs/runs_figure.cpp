#include "hone/jobs/runs_figure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/report/figure_colours.h"
#include "hone/report/scattered_curve.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

constexpr std::size_t kMostPoints = 200;

/// One training: its folder and what it is called.
struct Training {
  fs::path folder;
  std::string label;
};

bool has_log(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "training_log.jsonl", error);
}

std::vector<Training> trainings_of(const Runs& runs) {
  std::vector<Training> trainings;
  for (const RunFolder& run : runs.folders) {
    if (has_log(run.path)) trainings.push_back({run.path, run.path.string()});
    std::vector<Training> seeds;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.path, error))
      if (entry.path().filename().string().starts_with("seed-") && has_log(entry.path()))
        seeds.push_back({entry.path(), entry.path().string()});
    std::ranges::sort(seeds, {}, &Training::label);
    trainings.insert(trainings.end(), seeds.begin(), seeds.end());
  }
  return trainings;
}

// Every step of a finished training.
std::vector<Point> steps_of(const fs::path& folder) {
  std::vector<Point> points;
  const fs::path file = folder / "learning_curve.csv";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return points;
  const std::vector<std::string> lines = split(read_file(file), '\n');
  const std::vector<std::string> keys = split(trim(lines.front()), ',');
  const auto column = [&](const char* key) { return std::ranges::find(keys, key) - keys.begin(); };
  const auto epoch = static_cast<std::size_t>(column("epoch")),
             loss = static_cast<std::size_t>(column("loss"));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split(trim(lines[i]), ',');
    if (cells.size() != keys.size() || std::max(epoch, loss) >= cells.size()) continue;
    points.push_back(
        {std::strtod(cells[epoch].c_str(), nullptr), std::strtod(cells[loss].c_str(), nullptr)});
  }
  return points;
}

double number(const Json& line, const char* key) {
  return line.contains(key) && line[key].is_number() ? line[key].get<double>() : kNoValue;
}

/// Its curves; a log that breaks off is read as far as it goes.
void add_training(const Training& training, Panel& loss, Panel& accuracy,
                  std::set<std::string>& figures) {
  std::vector<Point> losses = steps_of(training.folder);
  Series accuracies{.label = training.label, .spread = Spread::bars};
  const bool every_step = !losses.empty();
  for (const std::string& text : split(read_file(training.folder / "training_log.jsonl"), '\n')) {
    Json line;
    try {
      line = trim(text).empty() ? Json::object() : parse_json(text, "training_log.jsonl");
    } catch (const UserError&) {
      break;
    }
    if (!line.is_object()) continue;
    const double epoch = number(line, "epoch");
    if (!every_step && line.contains("loss")) losses.push_back({epoch, number(line, "loss")});
    if (!line.contains("eval_loss")) continue;
    const MetricName name = figure_of(line);
    figures.insert(name.text);
    const std::string key = fmt::format("eval_{}", name.key);
    Point point{epoch, 100 * number(line, key.c_str())};
    const Json interval = line.value(key + "_interval", Json());
    if (interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
        interval[1].is_number()) {
      point.low = 100 * interval[0].get<double>();
      point.high = 100 * interval[1].get<double>();
    }
    accuracies.points.push_back(point);
  }
  if (!losses.empty())
    for (Series& series : scattered_curve(training.label, thinned(losses, kMostPoints).points))
      loss.series.push_back(std::move(series));
  if (!accuracies.points.empty()) accuracy.series.push_back(accuracies);
}

}  // namespace

Figure runs_figure(const Runs& runs, std::size_t& left_out) {
  std::vector<Training> trainings = trainings_of(runs);
  const std::size_t most = std::size(kSeriesColours);
  left_out = trainings.size() > most ? trainings.size() - most : 0;
  trainings.resize(trainings.size() - left_out);
  const Axis epochs{.label = "Epoch", .whole_ticks = true};
  Panel loss{.title = "Training loss", .x = epochs, .y = {.label = "Loss"}};
  Panel accuracy{.x = epochs};
  std::set<std::string> names;
  for (const Training& training : trainings) add_training(training, loss, accuracy, names);
  const std::string figures = fmt::format("{}", fmt::join(names, " or "));
  accuracy.title = "Validation " + figures;
  accuracy.y.label = figures == kAccuracy.text ? "Accuracy (%)" : figures + " (%)";
  Figure figure{.title = "Trainings laid over each other", .width = 1000};
  for (const Panel& panel : {loss, accuracy})
    if (!panel.series.empty()) figure.panels.push_back(panel);
  return figure;
}

}  // namespace hone
