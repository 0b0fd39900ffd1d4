#include "hone/jobs/choose.h"

#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
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
  print("choose", choose_model(a.job, context), a.run);
}

}  // namespace

Command choose_command() {
  return {"choose",
          "Choose the most accurate or smallest of several models",
          "hone choose my-model my-model-int8 --smallest --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ChooseArguments>();
            app.add_option("MODELS", a->job.models, "model folders, two or more")->required();
            CLI::Option* smallest =
                app.add_flag("--smallest", a->job.smallest,
                             "choose the smallest, not significantly worse model");
            declare(app, a->job.gates);
            for (const char* name : {"--max_drop", "--gate"}) {
              CLI::Option* limit = app.get_option(name)->needs(smallest);
              limit->description("with --smallest: " + limit->get_description());
            }
            declare(app, a->job.data, /*required=*/true);
            declare_split(app, a->job.split, "split to choose on");
            app.add_option("--per_device_eval_batch_size,--batch_size", a->job.batch_size,
                           "examples per evaluation batch")
                ->check(number_from(1));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { choose(*a, app); };
          },
          {.chooses_from = "MODELS"}};
}

}  // namespace hone
