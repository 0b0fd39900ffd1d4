#include "hone/jobs/evaluate.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct EvalArguments {
  EvaluateJob job;
  RunArguments run;
};

void evaluate(EvalArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("eval", evaluate_model(a.job, context), a.run);
}

}  // namespace

Command eval_command() {
  return {"eval", "Evaluate a model on a dataset",
          "hone eval my-model --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<EvalArguments>();
            app.add_option("MODEL", a->job.model, "model folder")->required();
            declare_adapter(app, a->job.adapter);
            declare(app, a->job.data, /*required=*/true);
            declare_split(app, a->job.split, "split to measure on; by default test");
            app.add_option("--per_device_eval_batch_size,--batch_size", a->job.batch_size,
                           "examples per evaluation batch")
                ->check(number_from(1));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            declare_device_and_executor(app, a->run);
            return [a, &app] { evaluate(*a, app); };
          }};
}

}  // namespace hone
