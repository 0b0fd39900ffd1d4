#include "hone/jobs/choose.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct ChooseArguments {
  ChooseJob job;
  RunArguments run;
};

void choose(ChooseArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("choose", choose_model(a.job, context), a.run);
}

Options options_of(const ChooseArguments*) {
  using A = ChooseArguments;
  Options gates = group<&A::job, &ChooseJob::gates>();
  for (OptionDef& row : gates.rows) row.needs = "smallest";
  gates.at("max_drop").meaning = "with --smallest: allowed drop of the metric";
  gates.at("gate").meaning = "with --smallest: such as 'f1_macro>=-2' (points)";
  return {argument<&A::job, &ChooseJob::models>("MODELS", "model folders to choose from")
              .required()
              .takes(kModelValue),
          option<&A::job, &ChooseJob::smallest>(
              "smallest", "choose the smallest, not significantly worse model"),
          gates,
          group<&A::job, &ChooseJob::data>(required_data()),
          split_option<&A::job, &ChooseJob::split>("split to choose on"),
          eval_batch_option<&A::job, &ChooseJob::batch_size>(),
          group<&A::job, &ChooseJob::output>(report_output()),
          group<&A::run>()};
}

}  // namespace

Command choose_command() {
  return {
      .name = "choose",
      .summary = "Evaluate several models; pick the most accurate or smallest",
      .example =
          "hone choose my-model my-model-int8 --smallest --data 'synth:negation?seed=7&n=30000'",
      .run = runs<ChooseArguments, choose>(),
      .stage = {.choice_argument = "MODELS"}};
}

}  // namespace hone
