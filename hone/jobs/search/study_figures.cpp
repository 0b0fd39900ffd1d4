#include "hone/jobs/search/study_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>

#include "hone/base/json.h"
#include "hone/jobs/search/best_history.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/report/crowded_figure.h"
#include "hone/search/formula.h"
#include "hone/study/result.h"

namespace hone {
namespace {

using Trials = std::vector<const Trial*>;

constexpr std::size_t kMostSliced = 9, kNameColumns = 30, kMaxAxes = 10, kMostCurves = 100;

std::string title_of(const DescribedStudy& study, std::string_view what) {
  const Json& part = value_at(study.measured_on, "text");
  return part.is_string() ? fmt::format("{}; {}; one seed", what, part.get<std::string>())
                          : fmt::format("{}; {} trials", what, study.view.trials.size());
}

std::string name_of(const Trial& trial) {
  return fmt::format("trial {}", shown_number(trial.number));
}

// Converts a timestamp of a storage to seconds; NaN if it cannot be parsed.
double seconds_at(const std::string& time) {
  std::tm parts{};
  double seconds = 0;
  if (std::sscanf(time.c_str(), "%d-%d-%d %d:%d:%lf", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &seconds) != 6)
    return kNoValue;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<double>(timegm(&parts)) + seconds;
}

// Keeps only the points where the value changes, and the last one.
Series without_repetitions(Series steps) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < steps.points.size(); ++i)
    if (points.empty() || i + 1 == steps.points.size() || steps.points[i].y != points.back().y)
      points.push_back(std::move(steps.points[i]));
  steps.points = std::move(points);
  return steps;
}

// Returns the history without repeated points, for drawing.
BestHistory shown_history(const DescribedStudy& study, const std::string& label,
                          const std::string& metric = "value") {
  BestHistory history = history_of(study, label, metric);
  for (Series* steps : {&history.by_trial, &history.by_seconds, &history.by_cpu_seconds})
    *steps = without_repetitions(std::move(*steps));
  return history;
}

Figure optimization_history(const DescribedStudy& study) {
  if (study.view.has_several_objectives()) return {};
  const BestHistory history = shown_history(study, "best so far");
  if (history.values.points.empty()) return {};
  Figure figure{.title = title_of(study, "Optimization history"), .panels = {}};
  const Axis y{.label = study.objectives[0], .better = better_end(study.view.directions.front())};
  figure.panels.push_back(
      {.x = {.label = "Trial"}, .y = y, .series = {history.values, history.by_trial}});
  if (!history.by_cpu_seconds.points.empty())
    figure.panels.push_back({.x = {.label = "CPU seconds of all trials together"},
                             .y = y,
                             .series = {history.by_cpu_seconds}});
  else if (!history.by_seconds.points.empty())
    figure.panels.push_back(
        {.x = {.label = "Seconds of all trials together"}, .y = y, .series = {history.by_seconds}});
  return figure;
}

// Drops the details of points that another figure shows.
void drop_details(Figure& figure) {
  for (Panel& panel : figure.panels)
    for (Series& series : panel.series)
      for (Point& point : series.points) point.detail.clear();
}

// Returns the metrics in the formula of the objective; none if the objective is a metric itself.
std::vector<std::string> named_metrics(const DescribedStudy& study) {
  std::vector<std::string> names;
  try {
    names = parse_formula(study.objectives[0]).names();
  } catch (const UserError&) {
    return {};  // a free-form name, from another program
  }
  const Trials trials = complete_trials(study);
  std::erase_if(names, [&](const std::string& name) {
    return name == study.objectives[0] || std::ranges::none_of(trials, [&](const Trial* trial) {
             return std::isfinite(metric_in(*trial, name));
           });
  });
  return names;
}

// Plots the objective and its metrics, which may have different best trials.
Figure objective_metric(const DescribedStudy& study) {
  if (study.view.has_several_objectives()) return {};
  constexpr std::size_t kMostMetrics = 3;
  std::vector<std::string> names = named_metrics(study);
  if (names.empty()) return {};
  if (names.size() > kMostMetrics) names.resize(kMostMetrics);
  const BestHistory history = shown_history(study, "best so far by the objective");
  const Axis x{.label = "Trial"};
  Figure figure{.title = title_of(study, "Objective and its metrics"), .panels = {}};
  figure.panels.push_back(
      {.x = x, .y = {.label = study.objectives[0]}, .series = {history.values, history.by_trial}});
  for (const std::string& name : names) {
    const BestHistory of_metric = shown_history(study, "best so far by the objective", name);
    figure.panels.push_back(
        {.x = x, .y = {.label = name}, .series = {of_metric.values, of_metric.by_trial}});
  }
  figure.width = 400 * static_cast<int>(figure.panels.size());
  if (!is_small(study)) drop_details(figure);
  return figure;
}

// Plots the first two objectives.
Figure pareto_front_figure(const DescribedStudy& study) {
  if (!study.view.has_several_objectives()) return {};
  Series others{.label = "a trial", .points = {}, .draw = Draw::points},
      front{.label = "Pareto front", .points = {}, .draw = Draw::points};
  const Trials best = pareto_front(study.view);
  for (const Trial* trial : complete_trials(study)) {
    const bool is_best = std::ranges::find(best, trial) != best.end();
    (is_best ? front : others)
        .points.push_back(
            point_of(study, *trial, trial->values[0], trial->values[1], /*with_values=*/true));
  }
  if (front.points.empty()) return {};
  return {.title = title_of(study, "Pareto front"),
          .panels = {{.x = {.label = study.objectives[0]},
                      .y = {.label = study.objectives[1]},
                      .series = {others, front}}}};
}

// Returns the importances of the parameters that vary.
std::vector<ParameterImportance> varying(const DescribedStudy& study) {
  std::vector<ParameterImportance> importances = study.importances;
  std::erase_if(importances, [&](const ParameterImportance& importance) {
    return std::ranges::none_of(study.view.trials, [&](const Trial* trial) {
      const TrialParameter* parameter = trial->parameter(importance.name);
      return parameter != nullptr && !parameter->distribution.single();
    });
  });
  return importances;
}

Figure importance_figure(const DescribedStudy& study) {
  const std::vector<ParameterImportance> importances = varying(study);
  if (importances.empty() || complete_trials(study).size() < 2) return {};
  Panel panel{
      .x = {.label = "Importance (share of all)", .range = Range{0, importances[0].share * 1.05}}};
  Series series{.points = {}, .draw = Draw::bars};
  const std::size_t shown = std::min<std::size_t>(importances.size(), 20);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto y = static_cast<double>(shown - 1 - i);
    series.points.push_back({importances[i].share, y, kNoValue, kNoValue, importances[i].name});
    panel.y.ticks.push_back({y, importances[i].name});
  }
  panel.y.range = Range{-0.5, static_cast<double>(shown) - 0.5};
  panel.series = {series};
  const std::string what =
      shown == importances.size()
          ? "Importance of parameters"
          : fmt::format("Importance of the first {} of {} parameters", shown, importances.size());
  return {.title = title_of(study, what), .panels = {panel}};
}

/// An axis for the values of a parameter: numbers by value, others by position.
struct ValueAxis {
  std::string parameter;
  Axis axis;
  bool by_number = true;
  bool logarithmic = false;
  double low = kNoValue, high = kNoValue;
  std::map<std::string, double> places = {};  ///< of values that are not numbers

  double place(const Json& value) const {
    return by_number ? value.get<double>() : places.at(value_text(parameter, value));
  }
};

// Returns a tick for each tested value if there are few.
std::vector<Tick> ticks_at(const std::string& parameter, const std::vector<Json>& numbers) {
  constexpr std::size_t kMostTicks = 6;
  std::map<double, std::string> ticks;
  for (const Json& number : numbers)
    ticks.emplace(number.get<double>(), value_text(parameter, number));
  std::vector<Tick> result;
  if (ticks.size() <= kMostTicks)
    for (const auto& [value, text] : ticks) result.push_back({value, text});
  return result;
}

ValueAxis axis_of(const DescribedStudy& study, const std::string& name, const Trials& trials) {
  ValueAxis axis{.parameter = name, .axis = {.label = name}};
  std::vector<Json> values;
  for (const Trial* trial : trials)
    if (const TrialParameter* parameter = trial->parameter(name)) {
      values.push_back(shown_value(study, *parameter));
      axis.by_number = axis.by_number && values.back().is_number();
      axis.logarithmic = parameter->distribution.logarithmic;
    }
  for (const Json& value : values)
    if (!axis.by_number) axis.places.emplace(value_text(name, value), 0);
  double next = 0;
  for (auto& [text, place] : axis.places) {
    place = next++;
    axis.axis.ticks.push_back({place, text});
  }
  for (const Json& value : values) {
    const double place = axis.place(value);
    axis.low = std::fmin(axis.low, place);
    axis.high = std::fmax(axis.high, place);
  }
  if (axis.by_number) axis.axis.ticks = ticks_at(name, values);
  axis.axis.logarithmic = axis.logarithmic;
  if (!axis.by_number) axis.axis.range = Range{-0.5, next - 0.5};
  return axis;
}

// "…7.attention.self.query.format": the end of a name distinguishes the parameters of layers.
std::string end_of_name(const std::string& name) {
  std::string end = name;
  while (end.size() > kNameColumns && end.find('.') != std::string::npos)
    end.erase(0, end.find('.') + 1);
  return end == name ? name : "…" + end;
}

Figure slice_figure(const DescribedStudy& study) {
  const Trials trials = complete_trials(study);
  std::vector<ParameterImportance> importances = varying(study);
  if (trials.size() < 2 || importances.empty()) return {};
  const std::size_t all = importances.size();
  importances.resize(std::min(all, kMostSliced));
  Figure figure{.title = title_of(study, all == importances.size()
                                             ? "Slices"
                                             : fmt::format("Slices along the {} most important of "
                                                           "{} parameters",
                                                           importances.size(), all)),
                .panels = {}};
  for (const ParameterImportance& importance : importances) {
    ValueAxis axis = axis_of(study, importance.name, trials);
    axis.axis.label = end_of_name(importance.name);
    Series series{.label = "a trial", .points = {}, .draw = Draw::points};
    for (const Trial* trial : trials)
      if (const TrialParameter* parameter = trial->parameter(importance.name))
        series.points.push_back(point_of(study, *trial, axis.place(shown_value(study, *parameter)),
                                         trial->values[0], is_small(study)));
    figure.panels.push_back(
        {.x = axis.axis, .y = {.label = study.objectives[0]}, .series = {series}});
  }
  figure.width =
      std::max(800, 260 * static_cast<int>(std::min<std::size_t>(figure.panels.size(), 9)));
  return figure;
}

// "batch: 16 to 64", "format: int, none"; with many values only their number, since all names would not fit.
std::string range_of(const std::string& name, const ValueAxis& axis) {
  constexpr std::size_t kMostNamed = 4;
  if (axis.places.size() > kMostNamed)
    return fmt::format("{}: {} values", name, axis.places.size());
  std::string range;
  if (axis.by_number) range = fmt::format("{:.4g} to {:.4g}", axis.low, axis.high);
  for (const auto& [text, place] : axis.places) range += (range.empty() ? "" : ", ") + text;
  return fmt::format("{}: {}", name, range);
}

// Returns the position from 0, at the least value of a parameter, to 1. NaN if the trial lacks it or it does not vary.
double share_of(const ValueAxis& axis, const DescribedStudy& study,
                const TrialParameter* parameter) {
  if (parameter == nullptr || !(axis.high > axis.low)) return kNoValue;
  const auto scaled = [&](double value) { return axis.logarithmic ? std::log(value) : value; };
  const double low = scaled(axis.low), high = scaled(axis.high);
  return (scaled(axis.place(shown_value(study, *parameter))) - low) / (high - low);
}

// Returns at most `kMostCurves` trials, evenly spaced.
Trials thinned(const Trials& trials) {
  if (trials.size() <= kMostCurves) return trials;
  Trials some;
  for (std::size_t i = 0; i < kMostCurves; ++i)
    some.push_back(trials[i * trials.size() / kMostCurves]);
  return some;
}

// "Parallel coordinates", "Parallel coordinates of 100 of 1326 trials"
std::string thinned_title(const DescribedStudy& study, const std::string& what, const Trials& all) {
  return title_of(study, all.size() <= kMostCurves
                             ? what
                             : fmt::format("{} of {} of {} trials", what, kMostCurves, all.size()));
}

// Draws an axis for the objective and each parameter, stacked so that their names fit, and a line for every trial. The
// best tenth is highlighted.
Figure parallel_figure(const DescribedStudy& study) {
  Trials all = complete_trials(study);
  std::vector<ParameterImportance> importances = varying(study);
  if (all.size() < 2 || importances.empty() || study.view.has_several_objectives()) return {};
  std::ranges::stable_sort(all, {}, [&](const Trial* trial) {
    return loss_of(trial->values[0], study.view.directions[0]);
  });
  const Trials trials = thinned(all);
  const std::size_t best = (trials.size() + 9) / 10;
  importances.resize(std::min(importances.size(), kMaxAxes));
  const double least = std::min(trials.front()->values[0], trials.back()->values[0]),
               most = std::max(trials.front()->values[0], trials.back()->values[0]);
  if (!(most > least)) return {};
  const auto top = static_cast<double>(importances.size());
  Panel panel{.x = {.label = "From the least to the greatest value", .range = Range{-0.03, 1.03}},
              .y = {.range = Range{-0.3, top + 0.3}}};
  panel.y.ticks.push_back(
      {top, fmt::format("{}: {:.4g} to {:.4g}", study.objectives[0], least, most)});
  std::vector<ValueAxis> axes;
  for (const ParameterImportance& importance : importances) {
    axes.push_back(axis_of(study, importance.name, trials));
    panel.y.ticks.push_back(
        {top - static_cast<double>(axes.size()), range_of(importance.name, axes.back())});
  }
  for (std::size_t t = trials.size(); t-- > 0;) {
    const bool is_best = t < best;
    Series line{
        .label = is_best ? "the best tenth" : "the others",
        .points = {point_of(study, *trials[t], (trials[t]->values[0] - least) / (most - least), top,
                            /*with_values=*/true)},
        .draw = is_best ? Draw::line : Draw::faint};
    for (std::size_t a = 0; a < axes.size(); ++a)
      line.points.push_back(point_of(
          study, *trials[t], share_of(axes[a], study, trials[t]->parameter(importances[a].name)),
          top - static_cast<double>(a + 1), is_small(study)));
    panel.series.push_back(std::move(line));
  }
  return {
      .title = thinned_title(study, "Parallel coordinates", all), .panels = {panel}, .width = 1000};
}

Figure intermediate_figure(const DescribedStudy& study) {
  Panel panel{.x = {.label = "Evaluation"}, .y = {.label = "Intermediate value"}};
  Trials all = study.view.trials;
  std::erase_if(all, [](const Trial* trial) { return trial->reports.size() < 2; });
  for (const Trial* trial : thinned(all)) {
    Series series{.label = trial->state == TrialState::pruned ? "stopped early" : "not stopped",
                  .points = {},
                  .draw = trial->state == TrialState::pruned ? Draw::faint : Draw::line};
    for (const auto& [step, value] : trial->reports)
      series.points.push_back(
          point_of(study, *trial, static_cast<double>(step), value, is_small(study)));
    panel.series.push_back(std::move(series));
  }
  if (panel.series.empty()) return {};
  return {.title = thinned_title(study, "Intermediate values", all), .panels = {panel}};
}

Figure edf_figure(const DescribedStudy& study) {
  if (study.view.has_several_objectives()) return {};
  Series series{.points = {}, .draw = Draw::steps};
  for (const Trial* trial : complete_trials(study))
    series.points.push_back(is_small(study) ? point_of(study, *trial, trial->values[0], 0, true)
                                            : Point{trial->values[0], 0});
  if (series.points.size() < 2) return {};
  std::ranges::stable_sort(series.points, {}, &Point::x);
  double no_more = 0;
  for (Point& point : series.points)
    point.y = ++no_more / static_cast<double>(series.points.size());
  return {.title = title_of(study, "Empirical distribution"),
          .panels = {
              {.x = {.label = study.objectives[0]},
               .y = {.label = "Share of trials with at most this value", .range = Range{0, 1.02}},
               .series = {series}}}};
}

/// All figures; a new one is added here.
constexpr struct {
  std::string_view name, description;
  Figure (*draw)(const DescribedStudy&);
  std::string_view zoomed =
      "";  ///< name of a second figure that zooms in on dense points; empty: none
} kFigures[] = {
    {"optimization_history", "The value of each trial, and the best so far.", optimization_history,
     "optimization_history_zoom"},
    {"optimization_metrics", "The objective and its metrics, by trial.", objective_metric},
    {"pareto_front", "The trials by their first two objectives.", pareto_front_figure},
    {"param_importances", "The importance of each parameter for being among the best tenth.",
     importance_figure},
    {"slice", "The first objective against each parameter.", slice_figure},
    {"parallel_coordinate", "Each trial as a line over its parameters.", parallel_figure},
    {"intermediate_values", "What trials reported while they ran.", intermediate_figure},
    {"edf", "The share of trials with no more than each value.", edf_figure},
};

}  // namespace

bool is_repetition(const Trial& trial) { return trial.user_attributes.contains(kRepeatAttribute); }

Json shown_value(const DescribedStudy& study, const TrialParameter& parameter) {
  const Json value = parameter.distribution.external(parameter.value);
  const Json& list = value_at(study.index_values, parameter.name);
  const auto index = value.is_number_integer() ? value.get<std::int64_t>() : -1;
  const bool is_index =
      list.is_array() && index >= 0 && index < static_cast<std::int64_t>(list.size());
  return is_index ? list.at(static_cast<std::size_t>(index)) : value;
}

double seconds_of(const Trial& trial) {
  const auto attribute = trial.user_attributes.find(kSecondsAttribute);
  if (attribute != trial.user_attributes.end() && attribute->second.is_number())
    return attribute->second.get<double>();
  return seconds_at(trial.end) - seconds_at(trial.start);
}

void find_importances(DescribedStudy& study) {
  const bool has_two = complete_trials(study).size() > 1;
  study.importances = has_two ? parameter_importances(study.view) : decltype(study.importances)();
}

std::vector<const Trial*> complete_trials(const DescribedStudy& study) {
  Trials trials;
  for (const Trial* trial : study.view.trials)
    if (trial->state == TrialState::complete && !is_repetition(*trial)) trials.push_back(trial);
  return trials;
}

bool is_small(const DescribedStudy& study) {
  constexpr std::size_t kMostTrials = 300;
  return study.view.trials.size() <= kMostTrials;
}

Point point_of(const DescribedStudy& study, const Trial& trial, double x, double y,
               bool with_values) {
  return {.x = x,
          .y = y,
          .name = name_of(trial),
          .detail = with_values ? values_text(study, trial) : ""};
}

std::vector<StudyFigure> study_figures(const DescribedStudy& study) {
  std::vector<StudyFigure> figures;
  for (const auto& row : kFigures) {
    Figure figure = row.draw(study);
    if (figure.panels.empty()) continue;
    std::optional<Figure> zoomed = row.zoomed.empty() ? std::nullopt : zoomed_to_crowd(figure);
    figures.push_back({row.name, row.description, std::move(figure)});
    if (!zoomed) continue;
    if (!is_small(study)) drop_details(*zoomed);
    figures.push_back({row.zoomed, row.description, std::move(*zoomed)});
  }
  return figures;
}

}  // namespace hone
