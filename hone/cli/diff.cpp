#include "hone/jobs/diff.h"

#include "hone/cli/arguments.h"
#include "hone/cli/graph_inputs.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

constexpr const char* kAllButLabels = "input_ids,attention_mask,token_type_ids";

struct DiffArguments {
  DiffJob job;
  std::string inputs = kAllButLabels, inputs_b;
  RunArguments run;
};

void diff(DiffArguments& a) {
  a.job.a_inputs = parse_graph_inputs("--inputs", a.inputs);
  a.job.b_inputs =
      a.inputs_b.empty() ? a.job.a_inputs : parse_graph_inputs("--inputs_b", a.inputs_b);
  a.job.seed = a.run.seed;
  Context context = make_context(a.run);
  print("diff", diff_models(a.job, context), a.run);
}

Options options_of(const DiffArguments*) {
  using A = DiffArguments;
  return {
      model_argument<&A::job, &DiffJob::a>("model folder, tiny, base or a config.json", "A"),
      model_argument<&A::job, &DiffJob::b>("another one, or the same with other --inputs_b", "B"),
      option<&A::job, &DiffJob::drawing>("o,output",
                                         "drawing of both graphs: .svg, .png, .pdf or .dot")
          .takes(kWrittenFileValue)
          .under(Heading::output),
      option<&A::job, &DiffJob::png>("png", "also write an .svg as .png").rare(),
      option<&A::job, &DiffJob::csv>("csv", "file for the comparison as a table"),
      option<&A::inputs>("inputs", "inputs of the graphs; by default all").shown("LIST"),
      option<&A::inputs_b>("inputs_b", "inputs of graph B if they differ").rare(),
      option<&A::job, &DiffJob::train>("train", "include labels, loss and dropout"),
      overwrite_option<&A::job, &DiffJob::overwrite>("replace existing files"),
      depth_option<&A::job, &DiffJob::depth>(),
      equal_layers_option<&A::job, &DiffJob::equal_layers>(),
      group<&A::run>(host_options())};
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .summary = "Show how the graphs and parameters of two models differ",
          .example = "hone diff my-model my-model-int8 -o both.svg",
          .run = runs<DiffArguments, diff>()};
}

}  // namespace hone
