#include "hone/jobs/compare.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

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

Options options_of(const CompareArguments*) {
  using A = CompareArguments;
  return {model_argument<&A::job, &CompareJob::first>(
              "baseline: model folder, or a folder of --seeds", "A"),
          model_argument<&A::job, &CompareJob::second>("model to compare with the baseline", "B"),
          adapter_option<&A::job, &CompareJob::first_adapter>("adapter_a",
                                                              "LoRA adapter folder to apply to A"),
          adapter_option<&A::job, &CompareJob::second_adapter>("adapter_b",
                                                               "LoRA adapter folder to apply to B"),
          group<&A::job, &CompareJob::data>(required_data()),
          split_option<&A::job, &CompareJob::split>("split to measure on; by default test"),
          option<&A::job, &CompareJob::texts>("examples", "changed predictions to show").from(0),
          group<&A::job, &CompareJob::gates>(),
          eval_batch_option<&A::job, &CompareJob::batch_size>(),
          group<&A::job, &CompareJob::output>(report_output()),
          group<&A::run>()};
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Compare two models on the same examples",
          .example = "hone compare my-model my-model-int8 --data 'synth:negation?seed=7&n=30000'",
          .run = runs<CompareArguments, compare>(),
          .stage = {.compares = true, .evaluates = StageKind::Evaluates::before_and_after}};
}

}  // namespace hone
