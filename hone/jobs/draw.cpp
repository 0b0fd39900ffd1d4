#include "hone/jobs/draw.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hone/analysis/draw_page.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/sensitivity.h"
#include "hone/models/model_source.h"
#include "hone/models/model_zeros.h"
#include "hone/models/text_limit.h"
#include "hone/passes/fill_input.h"

namespace hone {

namespace {

// Distinguishes drawings of one model: its inputs and outputs, and the constants that replace omitted inputs.
struct Signature {
  std::vector<std::string> inputs, outputs, made_inside;

  Signature(const Graph& graph, const Graph& whole) {
    for (const Node* input : graph.of_kind(NodeKind::input)) inputs.push_back(input->name());
    for (const auto& [name, value] : graph.outputs()) outputs.push_back(name);
    for (const Node* node : graph.of_kind(NodeKind::operation))
      if (whole.find(node->name()) == nullptr) made_inside.push_back(node->name());
  }
};

Facts facts_of(const Signature& signature) {
  Facts facts{{{"Inputs", fmt::format("{}", fmt::join(signature.inputs, ", "))},
               {"Outputs", fmt::format("{}", fmt::join(signature.outputs, ", "))}}};
  if (!signature.made_inside.empty())
    facts.rows.push_back(
        {"Made inside", fmt::format("{}", fmt::join(signature.made_inside, ", "))});
  return facts;
}

}  // namespace

Graph drawn_graph(const TextModel& source, const DrawnInputs& inputs, bool train,
                  Context& context) {
  Graph graph = inputs.labels || train ? source.model.graph : forward_graph(source.model);
  const auto leave_out = [&](const char* name, double value) {
    const Node* node = graph.find(name);
    if (node != nullptr && node->kind() == NodeKind::input)
      fill_input(graph, name, "input_ids", value);
  };
  if (!inputs.attention_mask) leave_out("attention_mask", 1);
  if (!inputs.token_type_ids) leave_out("token_type_ids", 0);  // not all models read them
  ParameterStore parameters = source.model.parameters;
  if (!train)
    run_passes(graph, parameters, context.session(), {"remove_dropout", "remove_dead_code"});
  return graph;
}

std::span<const EnumName> enum_names(ColouredBy) {
  static constexpr EnumName kWords[] = {{static_cast<int>(ColouredBy::kind), "kind"},
                                        {static_cast<int>(ColouredBy::format), "format"},
                                        {static_cast<int>(ColouredBy::sparsity), "sparsity"},
                                        {static_cast<int>(ColouredBy::cost), "cost"},
                                        {static_cast<int>(ColouredBy::sensitivity), "sensitivity"}};
  return kWords;
}

std::vector<std::string> colour_names() {
  std::vector<std::string> names;
  for (const EnumName& colour : enum_names(ColouredBy())) names.emplace_back(colour.name);
  return names;
}

const Fields& fields_of(const DrawFields*) {
  using D = DrawFields;
  static const Fields fields = describe<D>(
      "draw", "A drawing of a graph.", field<&D::model>("model", "The model as it was named."),
      field<&D::file>("file", "The file that was written."),
      field<&D::inputs>("inputs", "Inputs of the drawn graph."),
      field<&D::outputs>("outputs", "Outputs of the drawn graph."),
      field<&D::made_inside>("made_inside", "Operations that replace inputs that were left out."),
      field<&D::nodes>("nodes", "Nodes of the graph: operations, inputs and parameters."),
      field<&D::operations>("operations", "Operations of the graph."),
      field<&D::drawn_operations>("drawn_operations", "Operations with a box of their own."),
      field<&D::folded_layers>("folded_layers", "Layers drawn once with an equal layer."),
      field<&D::boxed_modules>("boxed_modules", "Modules drawn as one box each."),
      field<&D::boxed_operations>("boxed_operations", "Operations inside these."),
      field<&D::color_by>("color_by", "The property that colors show."));
  return fields;
}

namespace {

// Colours every layer by its largest divergence in the results of `hone sensitivity`.
Colouring coloured_by_sensitivity(const std::string& folder, const Graph& graph) {
  user_check(!folder.empty(),
             "`color_by` sensitivity needs results: give `sensitivity`, an output folder of `hone "
             "sensitivity`");
  const fs::path file = fs::path(folder) / "results.json";
  const Json json = read_json(file);
  user_check(value_at(json, "command") == "sensitivity", "{}: not a result of `hone sensitivity`",
             file.string());
  const auto results =
      with_context(file.string(), [&] { return from_json<SensitivityFields>(json); });
  user_check(results.subject.measured && !results.layers.empty(), "{}: no layer was measured",
             file.string());
  std::map<std::string, double> most;
  for (const LayerSensitivityResult& one : results.layers) {
    const double value =
        std::isnan(one.divergence) ? std::numeric_limits<double>::infinity() : one.divergence;
    const auto [place, is_new] = most.emplace(one.layer, value);
    if (!is_new) place->second = std::max(place->second, value);
  }
  const bool any =
      std::ranges::any_of(most, [&](const auto& one) { return graph.find(one.first) != nullptr; });
  user_check(any, "{}: none of its layers is in the model; its first one is {}", file.string(),
             most.begin()->first);
  return coloured_by_number(
      most, "largest divergence from the baseline, " + results.subject.measured->split + " split");
}

Colouring colouring_of(const DrawJob& job, const TextModel& source, const Graph& graph,
                       Context& context) {
  switch (job.colour) {
    case ColouredBy::kind:
      break;
    case ColouredBy::format:
      return coloured_by_format();
    case ColouredBy::sparsity:
      return coloured_by_sparsity(zeros_of(source.model, context.session()));
    case ColouredBy::cost: {
      const std::int64_t tokens = tokens_of_run(job.tokens, source.model.facts.limits);
      Colouring cost = coloured_by_cost(graph, {{'B', job.batch}, {'S', tokens}});
      cost.legend += " of " + run_size_text(job.batch, tokens, source.model.facts.limits);
      return cost;
    }
    case ColouredBy::sensitivity:
      return coloured_by_sensitivity(job.sensitivity, graph);
  }
  return coloured_by_kind();
}

}  // namespace

std::vector<std::string> drawing_files(const std::string& output, bool png, bool overwrite) {
  std::vector<std::string> files = {output};
  usage_check(!png || fs::path(output).extension() == ".svg",
              "`png` adds a .png to an .svg, but the output is '{}'; leave it out, or name an .svg",
              output);
  if (png) files.push_back(fs::path(output).replace_extension(".png").string());
  for (const std::string& file : files) check_output_file(file, overwrite);
  return files;
}

DrawResult draw_model(const DrawJob& job, Context& context) {
  const std::vector<std::string> files = drawing_files(job.output, job.png, job.overwrite);
  usage_check(job.sensitivity.empty() || job.colour == ColouredBy::sensitivity,
              "`sensitivity` needs `color_by` sensitivity; give it too");
  const TextModel source = open_model(job.model, context, job.seed);
  const Graph graph = drawn_graph(source, job.inputs, job.train, context);
  const DrawOptions options = {
      .title = fmt::format("{} ({})", job.model, job.train ? "training" : "inference"),
      .equal_layers = job.equal_layers,
      .depth = job.depth,
      .colouring = colouring_of(job, source, graph, context)};
  DrawResult result;
  const bool page = fs::path(job.output).extension() == ".html";
  if (page) {
    const auto operations = std::ssize(graph.of_kind(NodeKind::operation));
    result.drawing = {.dot = {}, .operations = operations, .drawn = operations};
    write_file(job.output, drawing_page(graph, options));
  } else {
    result.drawing = draw(graph, options);
    for (const std::string& file : files) write_drawing(result.drawing, file);
  }
  const Drawing& drawing = result.drawing;
  const Signature signature(graph, source.model.graph);
  result.fields = to_json(DrawFields{.model = job.model,
                                     .file = job.output,
                                     .inputs = signature.inputs,
                                     .outputs = signature.outputs,
                                     .made_inside = signature.made_inside,
                                     .nodes = std::ssize(graph.nodes()),
                                     .operations = drawing.operations,
                                     .drawn_operations = drawing.drawn,
                                     .folded_layers = drawing.folded_layers,
                                     .boxed_modules = drawing.modules,
                                     .boxed_operations = drawing.boxed,
                                     .color_by = job.colour});
  result.document.title = fmt::format("The graph of {}", job.model);
  result.document.headline = capitalized(drawn_sentence(drawing));
  result.document.sections = {
      {"", {facts_of(signature), Paragraph{fmt::format("Written to {}", job.output)}}}};
  return result;
}

}  // namespace hone
