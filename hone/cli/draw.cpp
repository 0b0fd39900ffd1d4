#include "hone/jobs/draw.h"

#include <algorithm>

#include "hone/cli/arguments.h"
#include "hone/cli/graph_inputs.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct DrawArguments {
  DrawJob job;
  std::string inputs = "input_ids,attention_mask,token_type_ids", colour = "kind";
  RunArguments run;
};

void draw(DrawArguments& a) {
  a.job.inputs = parse_graph_inputs("--inputs", a.inputs);
  const std::vector<std::string> colours = colour_names();
  a.job.colour = static_cast<ColouredBy>(std::ranges::find(colours, a.colour) - colours.begin());
  a.job.seed = a.run.seed;
  Context context = make_context(a.run);
  print("draw", draw_model(a.job, context), a.run);
}

Options options_of(const DrawArguments*) {
  using A = DrawArguments;
  return {
      model_argument<&A::job, &DrawJob::model>("model folder, tiny, base or a config.json"),
      option<&A::job, &DrawJob::output>("o,output", "file: .svg, .png, .pdf, .dot or .html")
          .takes(kWrittenFileValue)
          .under(Heading::output)
          .required(),
      option<&A::inputs>("inputs", "inputs of the graph; by default those of the model")
          .shown("LIST"),
      option<&A::job, &DrawJob::png>("png", "also write an .svg as .png").rare(),
      overwrite_option<&A::job, &DrawJob::overwrite>("replace the file"),
      option<&A::job, &DrawJob::train>("train", "include labels, loss and dropout"),
      depth_option<&A::job, &DrawJob::depth>(),
      equal_layers_option<&A::job, &DrawJob::equal_layers>(),
      option<&A::colour>("color_by", "property shown by color").one_of(colour_names()),
      option<&A::job, &DrawJob::sensitivity>("sensitivity", "output folder of `hone sensitivity`"),
      run_batch_option<&A::job, &DrawJob::batch>(),
      run_tokens_option<&A::job, &DrawJob::tokens>(),
      group<&A::run>(host_options())};
}

}  // namespace

Command draw_command() {
  return {.name = "draw",
          .summary = "Draw the graph of a model",
          .example = "hone draw my-model -o graph.svg --inputs input_ids,attention_mask,labels",
          .run = runs<DrawArguments, draw>()};
}

}  // namespace hone
