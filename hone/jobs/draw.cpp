#include "hone/jobs/draw.h"

#include "hone/models/model_source.h"
#include "hone/passes/fill_input.h"

namespace hone {

DrawResult draw_model(const DrawJob& job, Context& context) {
  check_output_file(job.output, job.overwrite);
  const TextModel source = open_model(job.model, context, job.seed);
  Graph graph = job.inputs.labels || job.train ? source.model.graph : forward_graph(source.model);
  const auto leave_out = [&](const char* name, double value) {
    const Node* node = graph.find(name);
    if (node != nullptr && node->kind() == NodeKind::input)
      fill_input(graph, name, "input_ids", value);
  };
  if (!job.inputs.attention_mask) leave_out("attention_mask", 1);
  if (!job.inputs.token_type_ids) leave_out("token_type_ids", 0);  // not all models read them
  ParameterStore parameters = source.model.parameters;
  if (!job.train)
    run_passes(graph, parameters, context.session(), {"remove_dropout", "remove_dead_code"});
  DrawResult result;
  result.drawing =
      draw(graph, {.title = fmt::format("{} ({})", job.model, job.train ? "training" : "inference"),
                   .depth = job.depth});
  const Drawing& drawing = result.drawing;
  write_drawing(drawing, job.output);
  result.fields = {{"model", job.model},
                   {"file", job.output},
                   {"nodes", graph.nodes().size()},
                   {"operations", drawing.operations},
                   {"drawn_operations", drawing.drawn},
                   {"folded_layers", drawing.folded_layers}};
  result.text = fmt::format("{}; written to {}\n", drawn_sentence(drawing), job.output);
  return result;
}

}  // namespace hone
