#include "hone/jobs/shrink/shrink.h"

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/shrink/shrink_space.h"

namespace hone {
namespace {

struct ShrinkArguments {
  ShrinkJob job;
  std::string goal = "both";
  std::string budget = "30m";
  std::string loadable;
  bool no_cache = false;
  RunArguments run;
};

void shrink(ShrinkArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.goal = parse_shrink_goal(a.goal);
  a.job.budget_seconds = value_of_flag("--budget", [&] { return parse_duration(a.budget); });
  a.job.loadable = !a.loadable.empty();
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  print("shrink", shrink_model(a.job, context), a.run);
}

}  // namespace

Command shrink_command() {
  return {
      "shrink", "Make a model as small and fast as its accuracy allows",
      "hone shrink my-model --data 'synth:negation?seed=7&n=30000' --budget 5m -o small",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<ShrinkArguments>();
        app.add_option("MODEL", a->job.model, "trained model folder, not quantized")->required();
        declare(app, a->job.gates);
        app.get_option("--max_drop")->default_str("0.5");
        app.add_option("--goal", a->goal, "what to minimize")
            ->check(one_of({"both", "size", "latency"}));
        app.add_option("--budget", a->budget, "start no new step after this time");
        app.add_option("--max_evaluations", a->job.looks, "candidates to evaluate on validation")
            ->check(number_from(1, 1000));
        app.add_option("--only", a->job.only, "allowed steps: trim,prune,quantize,allocate,train")
            ->check(one_of(shrink_means()))
            ->allow_extra_args(false)
            ->delimiter(',');
        app.add_option("--freeze", a->job.freeze,
                       "parameters to leave unchanged, such as 'bert.embeddings.*'")
            ->allow_extra_args(false);
        app.add_option("--loadable", a->loadable,
                       "also write an fp32 folder that transformers loads")
            ->check(one_of({"transformers"}));
        app.add_option("--recipe", a->job.recipe, "TOML file with the search space");
        declare_split(app, a->job.split, "split to report on; choices are made on validation");
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        app.add_option("--per_device_eval_batch_size,--batch_size", a->job.eval_batch_size,
                       "examples per evaluation batch")
            ->check(number_from(1));
        app.add_flag("--resume", a->job.resume, "continue an interrupted run, or start a new one");
        app.add_flag("--no_cache", a->no_cache, "do not use or update the store of earlier runs");
        declare_row_hashes(app, a->job.row_hashes);
        declare(app, a->job.output);
        declare(app, a->run);
        return [a, &app] { shrink(*a, app); };
      }};
}

}  // namespace hone
