#include "hone/jobs/draw.h"

#include <fmt/ranges.h>

#include "hone/models/model_source.h"
#include "hone/passes/fill_input.h"

namespace hone {

namespace {

// What tells drawings of one model apart: the inputs it is asked for, what it gives, and what it makes itself in place of an
// input that was left out.
struct Signature {
  std::vector<std::string> inputs, outputs, made_inside;

  Signature(const Graph& graph, const Graph& whole) {
    for (const Node* input : graph.of_kind(NodeKind::input)) inputs.push_back(input->name());
    for (const auto& [name, value] : graph.outputs()) outputs.push_back(name);
    for (const Node* node : graph.of_kind(NodeKind::operation))
      if (whole.find(node->name()) == nullptr) made_inside.push_back(node->name());
  }
};

std::string to_text(const Signature& signature) {
  return fmt::format(
      "inputs {}; outputs {}{}", fmt::join(signature.inputs, ", "),
      fmt::join(signature.outputs, ", "),
      signature.made_inside.empty()
          ? ""
          : fmt::format("; made inside: {}", fmt::join(signature.made_inside, ", ")));
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

DrawResult draw_model(const DrawJob& job, Context& context) {
  check_output_file(job.output, job.overwrite);
  const TextModel source = open_model(job.model, context, job.seed);
  const Graph graph = drawn_graph(source, job.inputs, job.train, context);
  DrawResult result;
  result.drawing =
      draw(graph, {.title = fmt::format("{} ({})", job.model, job.train ? "training" : "inference"),
                   .depth = job.depth});
  const Drawing& drawing = result.drawing;
  write_drawing(drawing, job.output);
  const Signature signature(graph, source.model.graph);
  result.fields = {{"model", job.model},
                   {"file", job.output},
                   {"inputs", signature.inputs},
                   {"outputs", signature.outputs},
                   {"made_inside", signature.made_inside},
                   {"nodes", graph.nodes().size()},
                   {"operations", drawing.operations},
                   {"drawn_operations", drawing.drawn},
                   {"folded_layers", drawing.folded_layers}};
  result.text = fmt::format("{}\n{}; written to {}\n", to_text(signature), drawn_sentence(drawing),
                            job.output);
  return result;
}

}  // namespace hone
