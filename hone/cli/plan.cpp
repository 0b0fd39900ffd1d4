#include "hone/jobs/plan.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct PlanArguments {
  PlanJob job;
  FormatArguments formats;
  RunArguments run;
};

void print_plan(PlanArguments& a) {
  Context context = make_context(a.run);
  a.job.recipe = recipe_from(a.formats, context.library.formats);
  a.job.seed = a.run.seed;
  print("plan", plan_formats(a.job, context), a.run);
}

}  // namespace

Command plan_command() {
  return {
      "plan", "Show which format a recipe assigns to each layer",
      "hone plan tiny --format 'integer(width=8,frac=4)' --rule 'op = \"linear\", bias = \"none\"'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<PlanArguments>();
        app.add_option("MODEL", a->job.model, "model folder, tiny, base or a config.json")
            ->required();
        declare(app, a->formats);
        declare_run_size(app, a->job.batch, a->job.tokens);
        declare(app, a->run);
        return [a] { print_plan(*a); };
      }};
}

}  // namespace hone
