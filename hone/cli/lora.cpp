#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/merge_adapter.h"

namespace hone {
namespace {

struct LoraMergeArguments {
  MergeJob job;
  RunArguments run;
};

void lora_merge(LoraMergeArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.invocation = invocation_of(app);
  a.job.seed = a.run.seed;
  print("lora", merge_adapter(a.job, context), a.run);
}

Options options_of(const LoraMergeArguments*) {
  using A = LoraMergeArguments;
  return {model_argument<&A::job, &MergeJob::model>("model folder that the adapter was trained on"),
          adapter_option<&A::job, &MergeJob::adapter>().required(),
          group<&A::job, &MergeJob::texts>(), group<&A::job, &MergeJob::output>(),
          group<&A::run>()};
}

}  // namespace

Command lora_command() {
  constexpr std::string_view kExample =
      "hone lora merge my-model --adapter my-adapter -o my-merged-model";
  return {.name = "lora",
          .summary = "Merge a trained LoRA adapter into its model",
          .example = kExample,
          .subcommands = {{.name = "lora merge",
                           .summary = "Add a LoRA adapter to the weights of its model",
                           .example = kExample,
                           .run = runs<LoraMergeArguments, lora_merge>(),
                           .stage = {.evaluates = StageKind::Evaluates::before_and_after,
                                     .writes_model = true}}}};
}

}  // namespace hone
