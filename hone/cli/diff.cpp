#include "hone/jobs/diff.h"

#include "hone/cli/arguments.h"
#include "hone/cli/drawn_inputs.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

constexpr const char* kAllButLabels = "input_ids,attention_mask,token_type_ids";

struct DiffArguments {
  DiffJob job;
  std::string inputs = kAllButLabels, inputs_b;
  RunArguments run;
};

void diff(DiffArguments& a) {
  a.job.a_inputs = parse_drawn_inputs("--inputs", a.inputs);
  a.job.b_inputs =
      a.inputs_b.empty() ? a.job.a_inputs : parse_drawn_inputs("--inputs_b", a.inputs_b);
  a.job.seed = a.run.seed;
  Context context = make_context(a.run);
  print("diff", diff_models(a.job, context), a.run);
}

}  // namespace

Command diff_command() {
  return {
      "diff", "Show how the graphs and parameters of two models differ",
      "hone diff my-model my-model-int8 -o both.svg", [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<DiffArguments>();
        app.add_option("A", a->job.a, "model folder, tiny, base or a config.json")->required();
        app.add_option("B", a->job.b, "another one, or the same with other --inputs_b")->required();
        app.add_option("-o,--output", a->job.drawing,
                       "drawing of both graphs: .svg, .png, .pdf or .dot");
        app.add_flag("--png", a->job.png, "also write an .svg as .png");
        app.add_option("--csv", a->job.csv, "file for the comparison as a table");
        app.add_option("--inputs", a->inputs, "inputs of the graphs; by default all");
        app.add_option("--inputs_b", a->inputs_b, "inputs of graph B if they differ");
        app.add_flag("--train", a->job.train, "include labels, loss and dropout");
        app.add_flag("--overwrite", a->job.overwrite, "replace existing files");
        declare_detail(app, a->job.equal_layers, a->job.depth);
        declare(app, a->run);
        return [a] { diff(*a); };
      }};
}

}  // namespace hone
