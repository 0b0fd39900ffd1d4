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
  return {"choose", "Choose the most accurate of several models, or the smallest",
          "hone choose my-model my-model-int8 --smallest --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ChooseArguments>();
            app.add_option("MODELS", a->job.models, "model folders, two or more")->required();
            app.add_flag("--smallest", a->job.smallest,
                         "choose the smallest, not significantly worse model");
            declare(app, a->job.gates);
            declare(app, a->job.data, /*required=*/true);
            declare_split(app, a->job.split, "split to choose on");
            app.add_option("--per_device_eval_batch_size,--batch_size", a->job.batch_size,
                           "examples per evaluation batch")
                ->check(number_from(1));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { choose(*a, app); };
          }};
}

}  // namespace hone
