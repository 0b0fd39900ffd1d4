#include "hone/jobs/train.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

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

}  // namespace

Command train_command() {
  return {
      "train",
      "Fine-tune a model, fully or with LoRA",
      "hone train tiny --data 'synth:negation?seed=7&n=30000' --epochs 1 --batch_size 64 --lr 5e-4 "
      "-o my-model",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<TrainArguments>();
        app.add_option("MODEL", a->job.model, "model folder; new: tiny, base or a config.json")
            ->required();
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        declare(app, a->job.training);
        declare(app, a->job.distill);
        app.add_option("--lora", a->job.lora, "train a LoRA adapter, such as r=8,alpha=16");
        declare_report_to(app, a->job.report_to);
        declare_problem_type(app, a->job.problem_type);
        app.add_flag("--ignore_mismatched_sizes", a->job.ignore_mismatched_sizes,
                     "start with a new head if labels or task differ");
        declare(app, a->job.resume);
        declare_row_hashes(app, a->job.row_hashes);
        declare(app, a->job.vocabulary);
        declare_seeds(app, a->job.seeds);
        declare(app, a->job.output);
        declare(app, a->run);
        declare_device_and_executor(app, a->run);
        return [a, &app] { train(*a, app); };
      },
      {.evaluates = StageKind::Evaluates::one_model, .leaves_model = true, .trains_plainly = true}};
}

}  // namespace hone
