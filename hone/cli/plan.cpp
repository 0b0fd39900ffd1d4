#include "hone/jobs/plan.h"

#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"

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

Options options_of(const PlanArguments*) {
  using A = PlanArguments;
  return {model_argument<&A::job, &PlanJob::model>("model folder, tiny, base or a config.json"),
          group<&A::formats>(), run_batch_option<&A::job, &PlanJob::batch>(),
          run_tokens_option<&A::job, &PlanJob::tokens>(), group<&A::run>(host_options())};
}

}  // namespace

Command plan_command() {
  return {.name = "plan",
          .summary = "Preview a recipe: print each layer's format and size",
          .example =
              "hone plan tiny --format 'integer(width=8,frac=4)' --rule 'op = \"linear\", bias = "
              "\"none\"'",
          .run = runs<PlanArguments, print_plan>()};
}

}  // namespace hone
