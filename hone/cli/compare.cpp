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
  const CompareResult result = compare_models(a.job, context);
  print_judged("compare", result, a.run);
}

}  // namespace

Command compare_command() {
  return {"compare", "compare two models on the same texts, and what changed",
          "hone compare my-model my-model-int8 --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<CompareArguments>();
            app.add_option("A", a->job.first, "model folder, or one made with --seeds")->required();
            app.add_option("B", a->job.second, "the model to compare with it")->required();
            app.add_option(
                "--adapter_a", a->job.first_adapter,
                "folder of a low-rank adapter to put on A, the model that it was trained "
                "beside");
            app.add_option("--adapter_b", a->job.second_adapter, "the same for B");
            declare(app, a->job.data, /*required=*/true);
            declare_split(app, a->job.split,
                          "part to measure on: train, validation, test or all; by default test, or "
                          "what was set aside when the models were trained on this data, or all "
                          "of a single file");
            app.add_option("--texts", a->job.texts, "changed texts to show")->check(number_from(0));
            declare(app, a->job.gates);
            app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->job.batch_size,
                           "texts per batch")
                ->check(number_from(1));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { compare(*a, app); };
          }};
}

}  // namespace hone
