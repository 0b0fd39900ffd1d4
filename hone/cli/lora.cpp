#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/merge_adapter.h"

namespace hone {
namespace {

struct LoraArguments {
  std::string action;
  MergeJob job;
  RunArguments run;
};

void lora(LoraArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.invocation = invocation_of(app);
  a.job.seed = a.run.seed;
  print("lora", merge_adapter(a.job, context), a.run);
}

}  // namespace

Command lora_command() {
  return {"lora",
          "Merge a trained LoRA adapter into its model",
          "hone lora merge my-model --adapter my-adapter -o my-merged-model",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<LoraArguments>();
            app.add_option("ACTION", a->action, "merge: add the adapter to the model's weights")
                ->required()
                ->check(one_of({"merge"}));
            app.add_option("MODEL", a->job.model, "model folder that the adapter was trained on")
                ->required();
            declare_adapter(app, a->job.adapter, /*required=*/true);
            declare(app, a->job.texts);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { lora(*a, app); };
          },
          {.evaluates = StageKind::Evaluates::before_and_after, .leaves_model = true}};
}

}  // namespace hone
