#include "hone/jobs/pipeline/pipeline_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/search/best_history.h"
#include "hone/report/crowded_figure.h"
#include "hone/report/figure.h"

namespace hone {
namespace {

double mean_value(std::vector<double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class FigureDrawer {
 public:
  FigureDrawer(const PipelineFigure& described, const PipelineFindings& findings,
               std::vector<std::string>& notes)
      : described_(described), findings_(findings), notes_(notes) {}

  Figure drawn() const {
    Figure figure{.title = described_.title, .panels = {}};
    for (const PipelinePanel& height : described_.panels) figure.panels.push_back(panel_of(height));
    for (const PipelineReference& one : described_.references) {
      const Estimate measured =
          estimate_of(findings_.outcomes[one.stage].result, folder_of(one.stage), one.y);
      if (std::isnan(measured.value)) {
        miss(findings_.pipeline.stages[one.stage], one.y);
      } else {
        figure.panels.front().references.push_back({measured.value, one.label});
      }
    }
    describe_means(figure);
    figure.note = circle_note(figure);
    add_published(figure.panels.front());
    for (std::size_t i = 0; i < figure.panels.size(); ++i)
      if (are_shares(described_.panels[i])) show_percent(figure.panels[i]);
    if (figure.panels.size() > 1) figure.width = 1200;
    return figure;
  }

 private:
  fs::path folder_of(std::size_t stage) const {
    return findings_.folder / findings_.pipeline.stages[stage].name;
  }

  void miss(const PipelineStage& stage, const std::string& y) const {
    notes_.push_back(fmt::format("figure {}: stage {} has no number {} to draw", described_.name,
                                 stage.name, y));
  }

  Panel panel_of(const PipelinePanel& height) const {
    Panel panel{.x = x_axis(), .y = {.label = height.label, .better = better_end_of(height)}};
    std::vector<std::size_t> judged;
    for (const PipelineCurve& curve : described_.curves) {
      const std::string& y = curve.y.empty() ? height.y : curve.y;
      const std::size_t first = panel.series.size();
      if (described_.is_of_trials()) {
        add_trials(curve, y, panel);
      } else {
        panel.series.push_back({.label = curve.label,
                                .points = points_of(curve, y),
                                .draw = described_.x == kSteps ? Draw::line : Draw::curve,
                                .spread = Spread::bars});
      }
      if (is_training_loss(y)) continue;
      for (std::size_t i = first; i < panel.series.size(); ++i) judged.push_back(i);
    }
    circle_best(panel, judged);
    return panel;
  }

  // Training loss keeps falling, so its best value is not meaningful.
  static bool is_training_loss(const std::string& y) { return y == "loss" || y.ends_with(".loss"); }

  // Marks the best point of these series if the better end is known; on ties the first of each series. Skips means over
  // several searches, which are not values of any of them.
  void circle_best(Panel& panel, const std::vector<std::size_t>& judged) const {
    if (panel.y.better == BetterEnd::unknown || described_.x == kSteps) return;
    const auto is_better = [&](double y, double than) {
      return panel.y.better == BetterEnd::high ? y > than : y < than;
    };
    double best = kNoValue;
    for (const std::size_t i : judged) {
      if (panel.series[i].spread == Spread::band) return;
      for (const Point& point : panel.series[i].points)
        if (!std::isnan(point.y) && (std::isnan(best) || is_better(point.y, best))) best = point.y;
    }
    for (const std::size_t i : judged) {
      const auto found = std::ranges::find(panel.series[i].points, best, &Point::y);
      if (found == panel.series[i].points.end()) continue;
      found->is_ringed = true;
      if (described_.is_of_trials() && described_.curves.size() == 1)
        break;  // one trial, drawn twice
    }
  }

  // "The circle marks the highest measured value.", with the label of the curve if others, of training loss, go beyond
  // it. With several panels, names each one that has a circle.
  static std::string circle_note(const Figure& figure) {
    std::size_t circles = 0;
    std::vector<std::string> marked;
    for (const Panel& panel : figure.panels) {
      const bool high = panel.y.better == BetterEnd::high;
      std::string label;
      double best = kNoValue;
      for (const Series& series : panel.series)
        for (const Point& point : series.points) {
          if (!point.is_ringed) continue;
          ++circles;
          label = series.label;
          best = point.y;
        }
      if (std::isnan(best)) continue;
      const bool is_beaten = std::ranges::any_of(panel.series, [&](const Series& series) {
        return std::ranges::any_of(series.points, [&](const Point& point) {
          return high ? point.y > best : point.y < best;
        });
      });
      std::string of = is_beaten && !label.empty() ? " of " + label : "";
      if (figure.panels.size() > 1)
        of += fmt::format(" {} “{}”", of.empty() ? "of" : "in", panel.y.label);
      marked.push_back(fmt::format("the {} measured value{}", high ? "highest" : "lowest", of));
    }
    if (marked.empty()) return "";
    return fmt::format("{} {}.", circles == 1 ? "The circle marks" : "Circles mark",
                       fmt::join(marked, " and "));
  }

  // Explains bands over several searches: in the title if they are the same for all curves, otherwise in the legend.
  static void describe_means(Figure& figure) {
    std::set<std::string> details;
    for (const Panel& panel : figure.panels)
      for (const Series& series : panel.series) details.insert(detail_of(series));
    const bool one_for_all = details.size() == 1;
    if (one_for_all && !details.begin()->empty())
      figure.title += fmt::format(" ({})", *details.begin());
    for (Panel& panel : figure.panels)
      for (Series& series : panel.series)
        if (const std::string detail = detail_of(series); !one_for_all && !detail.empty())
          series.label += ": " + detail;
  }

  // "mean of 3, lowest to highest"; empty if the series is not a band.
  static std::string detail_of(const Series& series) {
    return series.spread == Spread::band && !series.points.empty() ? series.points.front().detail
                                                                   : "";
  }

  // Adds published numbers if the pipeline runs on their data.
  void add_published(Panel& panel) const {
    const Pipeline& pipeline = findings_.pipeline;
    const auto data = pipeline.settings.find("data");
    if (data == pipeline.settings.end() || !glob_match(pipeline.published_on, data->second)) return;
    for (const PublishedNumber& one : pipeline.published) {
      Series marks{.label = fmt::format("{} ({})", one.what, one.source),
                   .points = {},
                   .draw = Draw::points,
                   .with_names = true,
                   .tone = Tone::quiet};
      for (const PublishedNumber::Mark& mark : one.marks)
        if (&pipeline.figures[mark.figure] == &described_)
          marks.points.push_back({.x = mark.x, .y = mark.y, .name = one.what});
      if (!marks.points.empty()) panel.series.push_back(std::move(marks));
    }
  }

  // Returns the x axis, with a tick for each tested value of a variable.
  Axis x_axis() const {
    Axis axis{.label = described_.x_label, .whole_ticks = described_.x == kEpochs};
    std::map<double, std::string> values;
    for (const PipelineCurve& curve : described_.curves)
      for (const std::size_t index : curve.stages) {
        const std::string* text = variable_of(findings_.pipeline.stages[index], described_.x);
        const double value = text == nullptr ? kNoValue : number_in_text(*text);
        if (!std::isnan(value)) values.emplace(value, *text);
      }
    for (const auto& [value, text] : values) axis.ticks.push_back({value, text});
    return axis;
  }

  // Returns the better end; that of an objective is its direction.
  BetterEnd better_end_of(const PipelinePanel& height) const {
    if (described_.is_of_trials() && height.y == "value")
      for (const auto& [stage, study] : findings_.studies)
        if (is_drawn(stage)) return better_end(study.study.directions.front());
    return better_end_at(height.y);
  }

  // Returns the points sorted by x.
  std::vector<Point> points_of(const PipelineCurve& curve, const std::string& y) const {
    std::vector<Point> points;
    for (const std::size_t index : curve.stages) {
      const PipelineStage& stage = findings_.pipeline.stages[index];
      const std::size_t before = points.size();
      if (described_.x == kEpochs || described_.x == kSteps) {
        for (const Json& line : logged_lines(folder_of(index), described_.x, y)) {
          const Estimate measured = estimate_at(line, y);
          points.push_back(
              {line[described_.x].get<double>(), measured.value, measured.low, measured.high});
        }
      } else {
        const auto value_at = [&](const std::string& path) {
          return estimate_of(findings_.outcomes[index].result, folder_of(index), path);
        };
        const Estimate measured = value_at(y);
        const std::string* variable = variable_of(stage, described_.x);
        const double x =
            variable == nullptr ? value_at(described_.x).value : number_in_text(*variable);
        if (!std::isnan(measured.value) && !std::isnan(x))
          points.push_back({x, measured.value, measured.low, measured.high, stage.name});
      }
      if (points.size() == before) miss(stage, y);
    }
    std::ranges::stable_sort(points, {}, &Point::x);
    return points;
  }

  // Adds the best trial so far of one stage, or the mean over several.
  void add_trials(const PipelineCurve& curve, const std::string& y, Panel& panel) const {
    const bool alone = described_.curves.size() == 1 && curve.stages.size() == 1;
    std::vector<Series> bests;
    for (const std::size_t index : curve.stages) {
      const PipelineStage& stage = findings_.pipeline.stages[index];
      const auto study = findings_.studies.find(stage.name);
      BestHistory history;
      if (study != findings_.studies.end())
        history = history_of(study->second.shown, curve.label, y, TrialPosition::count);
      const bool by_trial = described_.x == kTrials;
      Series& best = by_trial ? history.by_trial : history.by_cpu_seconds;
      if (best.points.empty()) {
        miss(stage, y);
        continue;
      }
      if (alone && by_trial) panel.series.push_back(std::move(history.values));
      bests.push_back(std::move(best));
    }
    if (bests.size() == 1) panel.series.push_back(std::move(bests.front()));
    if (bests.size() < 2) return;
    const std::string detail = fmt::format("mean of {}, lowest to highest", bests.size());
    panel.series.push_back(band_of(bests, curve.label, mean_value, detail));
  }

  // Returns whether values are shares, as those of an objective that is a single metric may be.
  bool are_shares(const PipelinePanel& height) const {
    const auto is_share = [](const std::string& y) { return quantity_at(y) == Quantity::share; };
    if (!described_.is_of_trials() || height.y != "value") return is_share(height.y);
    return std::ranges::all_of(findings_.studies, [&](const auto& study) {
      return !is_drawn(study.first) || is_share(objective_metric(study.second));
    });
  }

  bool is_drawn(const std::string& stage) const {
    return std::ranges::any_of(described_.curves, [&](const PipelineCurve& curve) {
      return std::ranges::any_of(curve.stages, [&](std::size_t index) {
        return findings_.pipeline.stages[index].name == stage;
      });
    });
  }

  static void show_percent(Panel& panel) {
    panel.y.label += " (%)";
    for (Series& series : panel.series)
      for (Point& point : series.points) {
        point.y *= 100;
        point.low *= 100;
        point.high *= 100;
      }
    for (Reference& reference : panel.references) reference.y *= 100;
  }

  const PipelineFigure& described_;
  const PipelineFindings& findings_;
  std::vector<std::string>& notes_;
};

}  // namespace

void draw_pipeline_figure(const PipelineFigure& described, const PipelineFindings& findings,
                          Section& section, std::vector<std::string>& notes) {
  const Figure figure = FigureDrawer(described, findings, notes).drawn();
  const auto add = [&](const Figure& drawn, const std::string& name) {
    Block block = figure_block(drawn, findings.folder / kFigures / name, drawn.title, notes);
    if (auto* page = std::get_if<PageFigure>(&block))
      page->file = fmt::format("{}/{}", kFigures, page->file);
    section.blocks.push_back(std::move(block));
  };
  add(figure, described.name);
  if (const std::optional<Figure> zoomed = zoomed_to_crowd(figure))
    add(*zoomed, described.name + "_zoom");
}

}  // namespace hone
