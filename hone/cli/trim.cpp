#include "hone/jobs/prune/trim.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct TrimArguments {
  TrimJob job;
  RunArguments run;
};

void trim_model(TrimArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("trim", trim_job(a.job, context), a.run);
}

Options options_of(const TrimArguments*) {
  using A = TrimArguments;
  return {
      model_argument<&A::job, &TrimJob::model>("model folder"),
      option<&A::job, &TrimJob::keep>("keep_tokens", "tokens to keep; by default all that are used")
          .from(0),
      group<&A::job, &TrimJob::gates>(),
      split_option<&A::job, &TrimJob::split>("split to measure on; by default test"),
      group<&A::job, &TrimJob::data>(training_data()),
      group<&A::job, &TrimJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command trim_command() {
  return {
      .name = "trim",
      .summary = "Remove vocabulary entries the training data never uses",
      .example =
          "hone trim my-model --keep_tokens 1000 --data 'synth:negation?seed=7&n=30000' -o "
          "my-model-trimmed",
      .details =
          "Texts with words that the training split lacks may be tokenized differently and may get "
          "a different prediction. The report says how many of the measured texts are, and "
          "lists some of them.",
      .run = runs<TrimArguments, trim_model>(),
      .stage = {.writes_model = true}};
}

}  // namespace hone
