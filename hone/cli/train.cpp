#include "hone/jobs/train.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct TrainArguments {
  TrainJob job;
  RunArguments run;
};

void train(TrainArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("train", train_model(a.job, context), a.run);
}

Options options_of(const TrainArguments*) {
  using A = TrainArguments;
  return {
      model_argument<&A::job, &TrainJob::model>("model folder; new: tiny, base or a config.json"),
      group<&A::job, &TrainJob::data>(training_data()),
      group<&A::job, &TrainJob::training>(),
      group<&A::job, &TrainJob::distill>(),
      option<&A::job, &TrainJob::lora>("lora", "train a LoRA adapter, such as r=8,alpha=16")
          .shown("OPTIONS"),
      report_to_option<&A::job, &TrainJob::report_to>(),
      problem_type_option<&A::job, &TrainJob::problem_type>(),
      option<&A::job, &TrainJob::ignore_mismatched_sizes>(
          "ignore_mismatched_sizes", "start with a new head if labels or task differ"),
      group<&A::job, &TrainJob::resume>(),
      row_hashes_option<&A::job, &TrainJob::row_hashes>(),
      group<&A::job, &TrainJob::vocabulary>(),
      seeds_option<&A::job, &TrainJob::seeds>(),
      group<&A::job, &TrainJob::output>(),
      group<&A::run>(),
      group<&A::run>(executor_option())};
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "Fine-tune a model, fully or with LoRA",
          .example =
              "hone train tiny --data 'synth:negation?seed=7&n=30000' --epochs 1 "
              "--batch_size 64 --lr 5e-4 -o my-model",
          .run = runs<TrainArguments, train>(),
          .stage = {.evaluates = StageKind::Evaluates::one_model,
                    .writes_model = true,
                    .trains_uncompressed = true}};
}

}  // namespace hone
