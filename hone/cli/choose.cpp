#include "hone/jobs/choose.h"

#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct ChooseArguments {
  ChooseJob job;
  RunArguments run;
};

void choose(ChooseArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const ChooseResult result = choose_model(a.job, context);
  if (a.run.json)
    print_result("choose", result.fields);
  else
    print_text(a.run, "{}", result.text(text_style(a.run)));
  check_gate(result.gate, a.run);
}

}  // namespace

Command choose_command() {
  return {"choose", "the best of several models, or the smallest that keeps up with it",
          "hone choose my-model my-model-int8 --smallest --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ChooseArguments>();
            app.add_option("MODELS", a->job.models, "model folders, two or more")->required();
            app.add_flag("--smallest", a->job.smallest,
                         "the one with the fewest bytes, packed, of those that are not shown to be "
                         "worse than the best");
            declare(app, a->job.gates, ", with --smallest, beside the best by each metric");
            declare(app, a->job.data, /*required=*/true);
            declare_split(app, a->job.split,
                          "part to choose on: train, validation, test or all; what is chosen "
                          "belongs measured on another one");
            app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->job.batch_size,
                           "texts per batch")
                ->check(number_from(1));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { choose(*a, app); };
          }};
}

}  // namespace hone
