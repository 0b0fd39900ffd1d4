#include "hone/jobs/compare.h"

#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct CompareArguments {
  CompareJob job;
  RunArguments run;
};

void compare(CompareArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("compare", compare_models(a.job, context), a.run);
}

}  // namespace

Command compare_command() {
  return {
      "compare",
      "Compare two models on the same examples",
      "hone compare my-model my-model-int8 --data 'synth:negation?seed=7&n=30000'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<CompareArguments>();
        app.add_option("A", a->job.first, "baseline: model folder, or a folder of --seeds")
            ->required();
        app.add_option("B", a->job.second, "model to compare with the baseline")->required();
        app.add_option("--adapter_a", a->job.first_adapter, "LoRA adapter folder to apply to A");
        app.add_option("--adapter_b", a->job.second_adapter, "LoRA adapter folder to apply to B");
        declare(app, a->job.data, /*required=*/true);
        declare_split(app, a->job.split, "split to measure on; by default test");
        app.add_option("--examples", a->job.texts, "changed predictions to show")
            ->check(number_from(0));
        declare(app, a->job.gates);
        app.add_option("--per_device_eval_batch_size,--batch_size", a->job.batch_size,
                       "examples per evaluation batch")
            ->check(number_from(1));
        declare(app, a->job.output, /*required=*/false);
        declare(app, a->run);
        return [a, &app] { compare(*a, app); };
      },
      {.compares = true, .evaluates = StageKind::Evaluates::before_and_after}};
}

}  // namespace hone
