#include "hone/jobs/prune/trim.h"

#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct TrimArguments {
  TrimJob job;
  RunArguments run;
};

void trim_model(TrimArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("trim", trim_job(a.job, context), a.run);
}

}  // namespace

Command trim_command() {
  return {"trim", "Remove vocabulary entries the training data never uses",
          "hone trim my-model --keep_tokens 1000 --data 'synth:negation?seed=7&n=30000' -o "
          "my-model-trimmed",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<TrimArguments>();
            app.add_option("MODEL", a->job.model, "model folder")->required();
            app.add_option("--keep_tokens", a->job.keep,
                           "tokens to keep; by default all that are used")
                ->check(number_from(0));
            declare(app, a->job.gates);
            declare_split(app, a->job.split, "split to measure on; by default test");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { trim_model(*a, app); };
          }};
}

}  // namespace hone
