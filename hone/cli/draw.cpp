#include <algorithm>

#include "hone/analysis/draw.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/passes/fill_input.h"

namespace hone {
namespace {

struct DrawArguments {
  std::string model;
  std::string output;
  std::string inputs = "input_ids,attention_mask,token_type_ids";
  bool train = false;
  std::int64_t depth = 1;
  bool overwrite = false;
  RunArguments run;
};

/// Which of its inputs a model is drawn with, beside `input_ids`.
struct DrawnInputs {
  bool attention_mask, token_type_ids, labels;
};

DrawnInputs parse_inputs(const std::string& text) {
  const std::vector<std::string> names = split(text, ',');
  const std::vector<std::string> known = {"input_ids", "attention_mask", "token_type_ids",
                                          "labels"};
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(fmt::format("--inputs: '{}' is no input of the model{}; there are {}", name,
                                   did_you_mean(name, known), fmt::join(known, ", ")));
  }
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!has("input_ids")) throw UsageError("--inputs: input_ids cannot be left out");
  return {has("attention_mask"), has("token_type_ids"), has("labels")};
}

void draw_model(const DrawArguments& a) {
  check_output_file(a.output, a.overwrite);
  Context context = make_context(a.run);
  const TextModel source = open_model(a.model, context, a.run.seed);
  const DrawnInputs inputs = parse_inputs(a.inputs);
  Graph graph = inputs.labels || a.train ? source.model.graph : forward_graph(source.model);
  const auto leave_out = [&](const char* name, double value) {
    const Node* node = graph.find(name);
    if (node != nullptr && node->kind() == NodeKind::input)
      fill_input(graph, name, "input_ids", value);
  };
  if (!inputs.attention_mask) leave_out("attention_mask", 1);
  if (!inputs.token_type_ids) leave_out("token_type_ids", 0);  // not all models read them
  ParameterStore parameters = source.model.parameters;
  if (!a.train)
    run_passes(graph, parameters, context.session(), {"remove_dropout", "remove_dead_code"});
  const Drawing drawing =
      draw(graph, {.title = fmt::format("{} ({})", a.model, a.train ? "training" : "inference"),
                   .depth = a.depth});
  write_drawing(drawing, a.output);
  const Json result = {{"model", a.model},
                       {"file", a.output},
                       {"nodes", graph.nodes().size()},
                       {"operations", drawing.operations},
                       {"drawn_operations", drawing.drawn},
                       {"folded_layers", drawing.folded_layers}};
  if (a.run.json) return print_result("draw", result);
  print_text(a.run, fmt::format("{}; written to {}\n", drawn_sentence(drawing), a.output));
}

}  // namespace

Command draw_command() {
  return {"draw", "draw a model's graph",
          "hone draw my-model -o graph.svg --inputs input_ids,attention_mask,labels",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<DrawArguments>();
            app.add_option("MODEL", a->model, "model folder, or tiny, base or a config.json")
                ->required();
            app.add_option("-o,--output", a->output, "file to write: .svg, .png, .pdf or .dot")
                ->required();
            app.add_option(
                "--inputs", a->inputs,
                "inputs the graph has; without labels it has no loss, without attention_mask "
                "the mask is made inside");
            app.add_flag("--overwrite", a->overwrite, "replace the file if it exists");
            app.add_flag("--train", a->train,
                         "draw it as it is trained: with labels, loss and dropout");
            app.add_option("--depth", a->depth,
                           "layers to draw of equal ones in a row; the last stands for the others "
                           "(0: draw all)")
                ->check(number_from(0));
            declare(app, a->run);
            return [a] { draw_model(*a); };
          }};
}

}  // namespace hone
