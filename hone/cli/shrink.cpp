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
  const ShrinkResult result = shrink_model(a.job, context);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  print_judged("shrink", result, a.run);
}

}  // namespace

Command shrink_command() {
  return {
      "shrink", "the smallest, fastest model that is kept, in one go",
      "hone shrink my-model --data 'synth:negation?seed=7&n=30000' --budget 5m -o small",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<ShrinkArguments>();
        app.add_option("MODEL", a->job.model, "model folder; trained, not quantized")->required();
        declare(app, a->job.gates);
        app.add_option("--goal", a->goal, "what is to fall: bytes, time for a text, or both alike")
            ->check(one_of({"both", "size", "latency"}));
        app.add_option("--budget", a->budget, "after which nothing new begins: 90s, 30m, 2h");
        app.add_option("--looks", a->job.looks,
                       "at the part that choices are made on, at most; its verdicts are "
                       "corrected for so many")
            ->check(number_from(1, 1000));
        app.add_option("--only", a->job.only,
                       "what may be done, by comma: trim (tokens), prune (heads, neurons, "
                       "layers), quantize, allocate (4 bits to some linears), train")
            ->check(one_of(shrink_means()))
            ->allow_extra_args(false)
            ->delimiter(',');
        app.add_option("--freeze", a->job.freeze,
                       "linears and tables that this glob names stay as they are: weights, "
                       "shapes, fp32; may be repeated")
            ->allow_extra_args(false);
        app.add_option("--loadable", a->loadable,
                       "also write a folder that transformers loads, in fp32, and judge the result "
                       "by that folder; all heads stay, and layers lose equally many neurons")
            ->check(one_of({"transformers"}));
        app.add_option("--recipe", a->job.recipe,
                       "TOML file with what may be tried, in place of what is tried by itself; "
                       "a space as `hone search` has it, values from gentle to strong");
        declare_split(app, a->job.split,
                      "part on which the result is measured once: train, validation, test or "
                      "all; choices are made on the validation part");
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->job.eval_batch_size,
                       "texts that are measured at a time")
            ->check(number_from(1));
        app.add_flag("--resume", a->job.resume,
                     "go on where an interrupted run stood; begin where there is none");
        app.add_flag("--no_cache", a->no_cache,
                     "neither take trainings from the store of earlier runs nor keep them "
                     "there");
        declare_row_hashes(app, a->job.row_hashes);
        declare(app, a->job.output);
        declare(app, a->run);
        return [a, &app] { shrink(*a, app); };
      }};
}

}  // namespace hone
