#include "hone/jobs/runs_figure.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/report/figure_colours.h"
#include "hone/report/smoothed_curve.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kMostPoints = 200;

/// A training: its folder, its label, and its data.
struct Training {
  fs::path folder;
  std::string label;
  std::string data;  ///< as it was named; empty: not recorded
};

/// Trainings are comparable if these are equal.
struct Validation {
  std::string data = {};
  std::string metric = {};
  std::int64_t n = 0;  ///< examples; 0: not validated
  bool operator==(const Validation&) const = default;
};

/// The curves of a training.
struct Curves {
  Validation validation = {};
  MetricName metric = {};
  std::vector<Series> loss = {};
  std::optional<Series> values = {};
};

/// Trainings that share a figure.
struct Overlay {
  Curves first;
  std::size_t trainings = 0;
  Panel loss = {}, values = {};
};

bool has_log(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "training_log.jsonl", error);
}

std::vector<Training> trainings_of(const Runs& runs) {
  std::vector<Training> trainings;
  for (const RunFolder& run : runs.folders) {
    const std::string data = run.rows.empty() ? "" : run.rows.front().data.value_or("");
    if (has_log(run.path)) trainings.push_back({run.path, run.path.string(), data});
    std::vector<Training> seeds;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.path, error))
      if (entry.path().filename().string().starts_with("seed-") && has_log(entry.path()))
        seeds.push_back({entry.path(), entry.path().string(), data});
    std::ranges::sort(seeds, {}, &Training::label);
    trainings.insert(trainings.end(), seeds.begin(), seeds.end());
  }
  return trainings;
}

// Reads every step of a finished training.
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

/// Reads an incomplete log up to its end.
Curves curves_of(const Training& training) {
  Curves curves{.validation = {.data = training.data}};
  std::vector<Point> losses = steps_of(training.folder);
  // Lines, because overlapping markers are moved sideways and would appear at other epochs.
  Series values{.label = training.label, .draw = Draw::line, .spread = Spread::bars};
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
    curves.metric = main_metric_of(line);
    curves.validation.metric = curves.metric.key;
    if (const Json& samples = value_at(line, "eval_samples"); samples.is_number_integer())
      curves.validation.n = samples.get<std::int64_t>();
    const std::string key = fmt::format("eval_{}", curves.metric.key);
    Point point{epoch, 100 * number(line, key.c_str())};
    const Json interval = line.value(key + "_interval", Json());
    if (interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
        interval[1].is_number()) {
      point.low = 100 * interval[0].get<double>();
      point.high = 100 * interval[1].get<double>();
    }
    values.points.push_back(point);
  }
  if (!losses.empty())
    curves.loss = smoothed_curve(training.label, thinned(losses, kMostPoints).points);
  if (!values.points.empty()) curves.values = std::move(values);
  return curves;
}

// "tickets.csv, validation n = 150"
std::string title_of(const Validation& validation) {
  const std::string data = validation.data.empty() ? "unknown data" : validation.data;
  return validation.n == 0
             ? fmt::format("Trainings on {}, not validated", data)
             : fmt::format("Trainings on {}, validation n = {}", data, grouped(validation.n));
}

Figure figure_of_overlay(Overlay overlay) {
  const Axis epochs{.label = "Epoch", .whole_ticks = true};
  const MetricName& metric = overlay.first.metric;
  overlay.loss.title = "Training loss";
  overlay.loss.x = overlay.values.x = epochs;
  overlay.loss.y.label = "Loss";
  overlay.values.title = fmt::format("Validation {}", metric.text);
  overlay.values.y.label =
      metric == kAccuracy ? "Accuracy (%)" : fmt::format("{} (%)", metric.text);
  Figure figure{.title = title_of(overlay.first.validation), .width = 1000};
  for (Panel* panel : {&overlay.loss, &overlay.values})
    if (!panel->series.empty()) figure.panels.push_back(std::move(*panel));
  return figure;
}

}  // namespace

std::vector<Figure> runs_figures(const Runs& runs, std::size_t& left_out) {
  std::vector<Overlay> overlays;
  left_out = 0;
  for (const Training& training : trainings_of(runs)) {
    Curves curves = curves_of(training);
    if (curves.loss.empty() && !curves.values) continue;
    auto overlay = std::ranges::find_if(overlays, [&](const Overlay& other) {
      return other.first.validation == curves.validation;
    });
    if (overlay == overlays.end())
      overlay = overlays.insert(overlay, {.first = {curves.validation, curves.metric}});
    if (overlay->trainings == std::size(kSeriesColours)) {
      ++left_out;
      continue;
    }
    ++overlay->trainings;
    std::ranges::move(curves.loss, std::back_inserter(overlay->loss.series));
    if (curves.values) overlay->values.series.push_back(std::move(*curves.values));
  }
  std::vector<Figure> figures;
  for (Overlay& overlay : overlays) figures.push_back(figure_of_overlay(std::move(overlay)));
  return figures;
}

}  // namespace hone
