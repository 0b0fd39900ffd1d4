#include "hone/jobs/pipeline/report_figures.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/pipeline_toml.h"

namespace hone {
namespace {

// Reads one panel for each item of `y`.
std::vector<PipelinePanel> panels_of(const ReportConfig& f, const toml::table& table,
                                     const std::string& name) {
  const auto texts = [&](const toml::node& node, std::string_view key) {
    std::vector<std::string> list;
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& one : *array) list.push_back(scalar_text(one, key, f.place));
    } else {
      list.push_back(scalar_text(node, key, f.place));
    }
    return list;
  };
  const toml::node& y = required_key(f, table, "y", name);
  const std::vector<std::string> paths = texts(y, "y");
  const toml::node* given = table.get("y_label");
  const std::vector<std::string> labels = given == nullptr ? paths : texts(*given, "y_label");
  user_check(!paths.empty() && labels.size() == paths.size(),
             "{}: {}: expected a y_label for each y, got {} for {}", f.place.at(y), name,
             labels.size(), paths.size());
  std::vector<PipelinePanel> panels;
  for (std::size_t i = 0; i < paths.size(); ++i) panels.push_back({paths[i], labels[i]});
  return panels;
}

PipelineCurve curve_of(const ReportConfig& f, const toml::table& curve, const toml::node& item,
                       const PipelineFigure& figure) {
  check_keys(curve, {"label", "stages", "y", "per"}, "a curve", f.place);
  PipelineCurve one;
  one.stages = stages_named(f, required_key(f, curve, "stages", "curve"), "stages");
  one.label = string_at(curve, "label", f.place, f.pipeline.stages[one.stages.front()].group);
  one.y = string_at(curve, "y", f.place);
  user_check(one.y.empty() || figure.panels.size() == 1,
             "{}: {}: a curve can have its own y only in a figure with one panel", f.place.at(item),
             figure.name);
  if (figure.is_of_trials()) check_searches(f, one.stages, item, figure.name);
  for (const std::size_t index : one.stages) {
    const PipelineStage& stage = f.pipeline.stages[index];
    const bool is_known = figure.x == kEpochs || figure.x == kSteps || figure.is_of_trials() ||
                          figure.x.find('.') != std::string::npos ||
                          value_in(stage.setting, figure.x) != nullptr;
    user_check(is_known,
               "{}: {}: x: '{}' is neither a variable of the stage {} nor a path into its result, "
               "which contains a '.'",
               f.place.at(item), figure.name, figure.x, stage.name);
  }
  return one;
}

// Adds a curve, or with `per` one for each value of a variable.
void add_curves(const ReportConfig& f, const toml::node& item, PipelineFigure& figure) {
  const toml::table& entry = table_at(item, "curve", f.place);
  const PipelineCurve all = curve_of(f, entry, item, figure);
  const std::string per = string_at(entry, "per", f.place);
  if (per.empty()) return figure.curves.push_back(all);
  user_check(entry.get("label") == nullptr,
             "{}: {}: with `per`, curves are labelled by the values of '{}'", f.place.at(item),
             figure.name, per);
  std::vector<PipelineCurve> curves;
  for (const std::size_t index : all.stages) {
    const PipelineStage& stage = f.pipeline.stages[index];
    const std::string* value = value_in(stage.setting, per);
    user_check(value != nullptr, "{}: {}: per: '{}' is not a variable of the stage {}",
               f.place.at(item), figure.name, per, stage.name);
    auto one = std::ranges::find(curves, *value, &PipelineCurve::label);
    if (one == curves.end())
      one = curves.insert(curves.end(), {.label = *value, .stages = {}, .y = all.y});
    one->stages.push_back(index);
  }
  figure.curves.insert(figure.curves.end(), curves.begin(), curves.end());
}

void read_references(const ReportConfig& f, const toml::node& list, PipelineFigure& figure) {
  user_check(list.is_array(), "{}: {}: expected [[figure.{}.reference]]", f.place.at(list),
             figure.name, figure.name);
  for (const toml::node& item : *list.as_array()) {
    const toml::table& entry = table_at(item, "reference", f.place);
    check_keys(entry, {"label", "stage", "y"}, "a reference", f.place);
    const std::vector<std::size_t> found =
        stages_named(f, required_key(f, entry, "stage", "reference"), "stage");
    user_check(found.size() == 1, "{}: {}: a reference needs one stage, found {}", f.place.at(item),
               figure.name, found.size());
    PipelineReference one{.stage = found.front(),
                          .y = scalar_text(required_key(f, entry, "y", "reference"), "y", f.place)};
    one.label = string_at(entry, "label", f.place, f.pipeline.stages[one.stage].name);
    figure.references.push_back(std::move(one));
  }
}

void read_figure(const ReportConfig& f, const std::string& name, const toml::node& node) {
  check_name(name, "a figure", node, f.place);
  user_check(!name.ends_with("_zoom"),
             "{}: a figure cannot be called '{}': this ending is reserved for zoomed figures",
             f.place.at(node), name);
  const toml::table& table = table_at(node, name, f.place);
  check_keys(table, {"title", "x", "x_label", "y", "y_label", "curve", "reference"}, "a figure",
             f.place);
  PipelineFigure figure{.name = name, .line = line_of(node)};
  figure.title = string_at(table, "title", f.place, name);
  figure.x = scalar_text(required_key(f, table, "x", name), "x", f.place);
  figure.x_label = string_at(table, "x_label", f.place, figure.x);
  figure.panels = panels_of(f, table, name);
  const toml::node& curves = required_key(f, table, "curve", name);
  user_check(curves.is_array(), "{}: {}: expected [[figure.{}.curve]]", f.place.at(curves), name,
             name);
  for (const toml::node& item : *curves.as_array()) add_curves(f, item, figure);
  if (const toml::node* references = table.get("reference"))
    read_references(f, *references, figure);
  f.pipeline.figures.push_back(std::move(figure));
}

}  // namespace

void read_figures(const ReportConfig& f) {
  read_named(f, "figure",
             [&](const std::string& name, const toml::node& node) { read_figure(f, name, node); });
}

namespace {

std::vector<PublishedNumber::Mark> marks_of(const ReportConfig& f, const toml::table& entry,
                                            const toml::node& node) {
  const std::string name =
      scalar_text(required_key(f, entry, "figure", "published"), "figure", f.place);
  const auto figure = std::ranges::find(f.pipeline.figures, name, &PipelineFigure::name);
  user_check(figure != f.pipeline.figures.end(), "{}: published: no figure is called '{}'",
             f.place.at(entry), name);
  std::vector<PublishedNumber::Mark> marks;
  const toml::array* list = node.as_array();
  const auto is_number = [](const toml::node& value) { return value.is_number(); };
  const bool is_list =
      list != nullptr && !list->empty() && std::ranges::all_of(*list, [&](const toml::node& mark) {
        const toml::array* place = mark.as_array();
        return place != nullptr && place->size() == 2 && std::ranges::all_of(*place, is_number);
      });
  user_check(is_list, "{}: published: marks: expected a list of [x, y]", f.place.at(node));
  for (const toml::node& mark : *list)
    marks.push_back({static_cast<std::size_t>(figure - f.pipeline.figures.begin()),
                     *mark.as_array()->get(0)->value<double>(),
                     *mark.as_array()->get(1)->value<double>()});
  return marks;
}

}  // namespace

void read_published(const ReportConfig& f) {
  f.pipeline.published_on = string_at(f.file, "published_on", f.place);
  for (const toml::table* entry :
       tables_of(f, "published", {"what", "value", "source", "figure", "marks"})) {
    PublishedNumber number{
        scalar_text(required_key(f, *entry, "what", "published"), "what", f.place),
        scalar_text(required_key(f, *entry, "value", "published"), "value", f.place),
        scalar_text(required_key(f, *entry, "source", "published"), "source", f.place)};
    if (const toml::node* marks = entry->get("marks")) number.marks = marks_of(f, *entry, *marks);
    f.pipeline.published.push_back(std::move(number));
  }
}

}  // namespace hone
