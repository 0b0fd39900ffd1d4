#include "hone/jobs/draw.h"

#include <algorithm>

#include "hone/cli/arguments.h"
#include "hone/cli/drawn_inputs.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct DrawArguments {
  DrawJob job;
  std::string inputs = "input_ids,attention_mask,token_type_ids", colour = "kind";
  RunArguments run;
};

void draw(DrawArguments& a) {
  a.job.inputs = parse_drawn_inputs("--inputs", a.inputs);
  const std::vector<std::string> colours = colour_names();
  a.job.colour = static_cast<ColouredBy>(std::ranges::find(colours, a.colour) - colours.begin());
  a.job.seed = a.run.seed;
  Context context = make_context(a.run);
  print("draw", draw_model(a.job, context), a.run);
}

}  // namespace

Command draw_command() {
  return {
      "draw", "Draw the graph of a model",
      "hone draw my-model -o graph.svg --inputs input_ids,attention_mask,labels",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<DrawArguments>();
        app.add_option("MODEL", a->job.model, "model folder, tiny, base or a config.json")
            ->required();
        app.add_option("-o,--output", a->job.output, "file: .svg, .png, .pdf, .dot or .html")
            ->required();
        app.add_option("--inputs", a->inputs, "inputs of the graph; by default those of the model");
        app.add_flag("--png", a->job.png, "also write an .svg as .png");
        app.add_flag("--overwrite", a->job.overwrite, "replace the file");
        app.add_flag("--train", a->job.train, "include labels, loss and dropout");
        declare_detail(app, a->job.equal_layers, a->job.depth);
        app.add_option("--color_by", a->colour, "property shown by color")
            ->check(one_of(colour_names()));
        app.add_option("--sensitivity", a->job.sensitivity, "output folder of `hone sensitivity`");
        declare_run_size(app, a->job.batch, a->job.tokens);
        declare(app, a->run);
        return [a] { draw(*a); };
      }};
}

}  // namespace hone
