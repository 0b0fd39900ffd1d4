#include "hone/jobs/diff.h"

#include "hone/cli/arguments.h"
#include "hone/cli/drawn_inputs.h"
#include "hone/cli/print_result.h"
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
  const DiffResult result = diff_models(a.job, context);
  if (a.run.json) return print_result("diff", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command diff_command() {
  return {
      "diff", "tell how two models' graphs and parameters differ",
      "hone diff my-model my-model-int8 -o both.svg", [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<DiffArguments>();
        app.add_option("A", a->job.a, "model folder, or tiny, base or a config.json")->required();
        app.add_option("B", a->job.b, "another, or the same with other --inputs_b")->required();
        app.add_option("-o,--output", a->job.drawing,
                       "file to draw both into, beside each other, with what differs marked: "
                       ".svg, .png, .pdf or .dot");
        app.add_flag("--png", a->job.png, "beside an .svg the same picture as .png");
        app.add_option("--csv", a->job.csv, "file to write the table of the graphs to");
        app.add_option("--inputs", a->inputs,
                       "inputs the graphs have; without labels they have no loss, without "
                       "attention_mask the mask is made inside");
        app.add_option("--inputs_b", a->inputs_b,
                       "those that the graph of B has, where they are others");
        app.add_flag("--train", a->job.train,
                     "compare them as they are trained: with labels, loss and dropout");
        app.add_flag("--overwrite", a->job.overwrite, "replace files that exist");
        declare_detail(app, a->job.equal_layers, a->job.depth);
        declare(app, a->run);
        return [a] { diff(*a); };
      }};
}

}  // namespace hone
