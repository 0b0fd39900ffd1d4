#include "hone/jobs/diff.h"

#include "hone/analysis/graph_difference.h"
#include "hone/base/text.h"
#include "hone/report/table.h"

namespace hone {
namespace {

std::string summary_of(const GraphDifference& graph, const ParameterDifferences& parameters) {
  const std::string values =
      parameters.differing.empty()
          ? fmt::format("all {} parameters of one name and shape have equal values",
                        parameters.compared)
          : fmt::format("{} of {} parameters of one name and shape have different values",
                        parameters.differing.size(), parameters.compared);
  if (graph.empty())
    return fmt::format("The graphs are equal, {} operations; {}", graph.equal_operations, values);
  return fmt::format("Operations: {} only in A, {} only in B, {} changed, {} equal; {}",
                     graph.count(DifferenceKind::only_in_first),
                     graph.count(DifferenceKind::only_in_second),
                     graph.count(DifferenceKind::changed), graph.equal_operations, values);
}

Table table_of(const GraphDifference& graph) {
  Table table({{"difference", "Difference"},
               {"what", "What"},
               {"a", "In A"},
               {"b", "In B"},
               {"detail", "How"}});
  const auto cell = [](const std::string& text) {
    return text.empty() ? Cell(absent) : Cell(text);
  };
  for (const NodeDifference& one : graph.differences)
    table.add_row(
        {to_string(one.kind), one.what, cell(one.name), cell(one.second_name), cell(one.detail)});
  return table;
}

Table table_of(const ParameterDifferences& parameters) {
  Table table({{"parameter", "Parameter"},
               {"elements", "Elements"},
               {"differing", "Different values"},
               {"largest", "Largest difference"}});
  for (const ParameterDifference& one : parameters.differing)
    table.add_row({one.name, grouped(one.elements), grouped(one.differing),
                   fmt::format("{:.3g}", one.largest)});
  return table;
}

std::map<std::string, char> marks_of(const GraphDifference& graph, bool first) {
  std::map<std::string, char> marks;
  for (const NodeDifference& one : graph.differences) {
    const std::string& name = first ? one.name : one.second_name;
    if (one.what == "parameter" || one.what == "output" || name.empty()) continue;
    marks[name] = one.kind == DifferenceKind::changed ? '~' : first ? '-' : '+';
  }
  return marks;
}

Json rows_of(const GraphDifference& graph) {
  Json rows = Json::array();
  for (const NodeDifference& one : graph.differences)
    rows.push_back({{"difference", to_string(one.kind)},
                    {"what", one.what},
                    {"a", one.name.empty() ? Json(nullptr) : Json(one.name)},
                    {"b", one.second_name.empty() ? Json(nullptr) : Json(one.second_name)},
                    {"detail", one.detail}});
  return rows;
}

Json rows_of(const ParameterDifferences& parameters) {
  Json rows = Json::array();
  for (const ParameterDifference& one : parameters.differing)
    rows.push_back({{"parameter", one.name},
                    {"elements", one.elements},
                    {"differing", one.differing},
                    {"largest", one.largest}});
  return rows;
}

}  // namespace

JobResult diff_models(const DiffJob& job, Context& context) {
  std::vector<std::string> files;
  if (!job.drawing.empty() || job.png) files = drawing_files(job.drawing, job.png, job.overwrite);
  if (!job.csv.empty()) check_output_file(job.csv, job.overwrite);
  const TextModel a = open_model(job.a, context, job.seed),
                  b = open_model(job.b, context, job.seed);
  const Graph first = drawn_graph(a, job.a_inputs, job.train, context),
              second = drawn_graph(b, job.b_inputs, job.train, context);
  const GraphDifference graph = difference(first, second);
  const ParameterDifferences parameters = difference(a.model.parameters, b.model.parameters);
  const std::string summary = summary_of(graph, parameters);
  const Table nodes = table_of(graph);
  if (!job.csv.empty()) write_file(job.csv, to_csv(nodes));
  if (!files.empty()) {
    const Drawing drawing = draw_beside(first,
                                        {.title = "A: " + job.a,
                                         .equal_layers = job.equal_layers,
                                         .depth = job.depth,
                                         .marks = marks_of(graph, true)},
                                        second,
                                        {.title = "B: " + job.b,
                                         .equal_layers = job.equal_layers,
                                         .depth = job.depth,
                                         .marks = marks_of(graph, false)},
                                        "- only in A   + only in B   ~ changed");
    for (const std::string& file : files) write_drawing(drawing, file);
  }
  JobResult result;
  result.fields = {{"a", job.a},
                   {"b", job.b},
                   {"summary", summary},
                   {"only_in_a", graph.count(DifferenceKind::only_in_first)},
                   {"only_in_b", graph.count(DifferenceKind::only_in_second)},
                   {"changed", graph.count(DifferenceKind::changed)},
                   {"equal", graph.equal_operations},
                   {"differences", rows_of(graph)},
                   {"compared_parameters", parameters.compared},
                   {"parameters", rows_of(parameters)},
                   {"file", job.drawing.empty() ? Json(nullptr) : Json(job.drawing)}};
  Document& document = result.document;
  document.title = fmt::format("{} and {}", job.a, job.b);
  document.headline = summary;
  Section section{"", {}};
  if (!graph.empty()) section.blocks.push_back(PageTable{nodes});
  if (!parameters.differing.empty()) section.blocks.push_back(PageTable{table_of(parameters)});
  document.sections = {section};
  return result;
}

}  // namespace hone
