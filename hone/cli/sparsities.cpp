#include "hone/jobs/prune/sparsities.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct SparsitiesArguments {
  SparsitiesJob job;
  std::vector<std::string> methods = {"l1", "random"};
  std::string scope = "local";
  RunArguments run;
};

void study(SparsitiesArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.study.methods.clear();
  for (const std::string& method : a.methods)
    a.job.study.methods.push_back(
        value_of_flag("--methods", [&] { return parse_prune_method(method); }));
  a.job.study.how.pruning.rule.scope = parse_prune_scope(a.scope);
  a.job.study.how.trains = app.count("--epochs") + app.count("--max_steps") > 0;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("sparsities", study_sparsities(a.job, context), a.run);
}

}  // namespace

Command sparsities_command() {
  return {"sparsities", "Measure and plot accuracy at several sparsities",
          "hone sparsities my-model --sparsities 0.3,0.6 --data 'synth:negation?seed=7&n=30000' -o "
          "sparsities",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<SparsitiesArguments>();
            app.add_option("MODEL", a->job.model, "model folder; its formats are kept")->required();
            app.add_option("--sparsities", a->job.study.sparsities,
                           "fractions to remove; by default 0.1 to 0.9")
                ->allow_extra_args(false)
                ->delimiter(',')
                ->check(above_zero())
                ->check(number_from(0, 1));
            app.add_option("--methods", a->methods, "pruning methods; by default l1,random")
                ->allow_extra_args(false)
                ->delimiter(',');
            app.add_option("--scope", a->scope,
                           "apply the sparsity to each tensor, or to all together")
                ->check(one_of({"local", "global"}));
            app.add_flag("--with_activations", a->job.study.both,
                         "prune the layers' inputs by the same fraction");
            app.add_option("--target", a->job.study.how.pruning.target,
                           "operations to prune, as globs; by default all linears but the head")
                ->allow_extra_args(false)
                ->delimiter(',');
            declare_split(app, a->job.split, "split to report on; choices are made on validation");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->job.study.how.fine_tune);
            declare(app, a->job.resume);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { study(*a, app); };
          }};
}

}  // namespace hone
