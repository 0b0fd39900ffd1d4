#include "hone/jobs/evaluate.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

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

Options options_of(const EvalArguments*) {
  using A = EvalArguments;
  return {model_argument<&A::job, &EvaluateJob::model>("model folder"),
          adapter_option<&A::job, &EvaluateJob::adapter>(),
          group<&A::job, &EvaluateJob::data>(required_data()),
          split_option<&A::job, &EvaluateJob::split>("split to measure on; by default test"),
          eval_batch_option<&A::job, &EvaluateJob::batch_size>(),
          group<&A::job, &EvaluateJob::output>(report_output()),
          group<&A::run>(),
          group<&A::run>(executor_option())};
}

}  // namespace

Command eval_command() {
  return {.name = "eval",
          .summary = "Evaluate a model on a dataset",
          .example = "hone eval my-model --data 'synth:negation?seed=7&n=30000'",
          .run = runs<EvalArguments, evaluate>()};
}

}  // namespace hone
