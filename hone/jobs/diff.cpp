#include "hone/jobs/diff.h"

#include <fmt/ranges.h>

#include "hone/base/text.h"
#include "hone/report/field_table.h"
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

std::vector<NodeDifferenceResult> results_of(const GraphDifference& graph) {
  const auto if_any = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  std::vector<NodeDifferenceResult> results;
  for (const NodeDifference& one : graph.differences)
    results.push_back(
        {one.kind, one.what, if_any(one.name), if_any(one.second_name), if_any(one.detail)});
  return results;
}

// Returns the title of one graph in the drawing: "B: tiny (inputs input_ids, labels)". `other` is the graph beside it.
std::string side_title(std::string_view side, const std::string& model, const Graph& graph,
                       const Graph& other) {
  const auto inputs_of = [](const Graph& of) {
    std::vector<std::string> names;
    for (const Node* input : of.of_kind(NodeKind::input)) names.push_back(input->name());
    return names;
  };
  const std::vector<std::string> inputs = inputs_of(graph);
  return fmt::format(
      "{}: {}{}", side, model,
      inputs == inputs_of(other) ? "" : fmt::format(" (inputs {})", fmt::join(inputs, ", ")));
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

}  // namespace

const Fields& fields_of(const NodeDifferenceResult*) {
  using N = NodeDifferenceResult;
  static const Fields fields = describe<N>(
      "node_difference", "A node that differs between two graphs.",
      field<&N::difference>("difference", "How it differs.", "Difference"),
      field<&N::what>("what", "Input, parameter, output, or the operation.", "What"),
      field<&N::a>("a", "Its name in A; null: A does not have it.", "In A"),
      field<&N::b>("b", "Its name in B; null: B does not have it.", "In B"),
      field<&N::detail>("detail", "What was changed; null: it is in one graph only.", "How"));
  return fields;
}

const Fields& fields_of(const DiffFields*) {
  using D = DiffFields;
  static const Fields fields = describe<D>(
      "diff", "Differences between two models.", field<&D::a>("a", "The first model."),
      field<&D::b>("b", "The second model."),
      field<&D::summary>("summary", "How they differ, in a sentence."),
      field<&D::only_in_a>("only_in_a", "Operations that only A has."),
      field<&D::only_in_b>("only_in_b", "Operations that only B has."),
      field<&D::changed>("changed",
                         "Operations of both with different attributes, types or inputs."),
      field<&D::equal>("equal", "Operations that are equal."),
      field<&D::differences>("differences", "Inputs, parameters, operations and outputs."),
      field<&D::compared_parameters>("compared_parameters",
                                     "Parameters of both with the same name and shape."),
      field<&D::parameters>("parameters", "Those of them with different values."),
      field<&D::file>("file", "The drawing of both; null: none was made."));
  return fields;
}

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
  const std::vector<NodeDifferenceResult> differences = results_of(graph);
  const Table nodes = headed_table(differences);
  if (!job.csv.empty()) write_file(job.csv, to_csv(nodes));
  if (!files.empty()) {
    const Drawing drawing = draw_side_by_side(first,
                                              {.title = side_title("A", job.a, first, second),
                                               .equal_layers = job.equal_layers,
                                               .depth = job.depth,
                                               .marks = marks_of(graph, true)},
                                              second,
                                              {.title = side_title("B", job.b, second, first),
                                               .equal_layers = job.equal_layers,
                                               .depth = job.depth,
                                               .marks = marks_of(graph, false)},
                                              "- only in A   + only in B   ~ changed");
    for (const std::string& file : files) write_drawing(drawing, file);
  }
  JobResult result;
  DiffFields fields{.a = job.a,
                    .b = job.b,
                    .summary = summary,
                    .only_in_a = graph.count(DifferenceKind::only_in_first),
                    .only_in_b = graph.count(DifferenceKind::only_in_second),
                    .changed = graph.count(DifferenceKind::changed),
                    .equal = graph.equal_operations,
                    .differences = differences,
                    .compared_parameters = parameters.compared,
                    .parameters = parameters.differing};
  if (!job.drawing.empty()) fields.file = job.drawing;
  result.fields = to_json(fields);
  Document& document = result.document;
  document.title = fmt::format("{} and {}", job.a, job.b);
  document.headline = summary;
  Section section{"", {}};
  if (!graph.empty()) section.blocks.push_back(PageTable{nodes});
  if (!parameters.differing.empty())
    section.blocks.push_back(PageTable{headed_table(parameters.differing)});
  document.sections = {section};
  return result;
}

}  // namespace hone
