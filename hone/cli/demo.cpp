#include "hone/jobs/demo.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct DemoArguments {
  DemoJob job;
  RunArguments run;
};

void demo(DemoArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const DemoResult result = run_demo(a.job, context);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  if (a.run.json) return print_result("demo", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command demo_command() {
  return {"demo", "the whole way on built-in data: train, quantize, look", "hone demo -o demo",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<DemoArguments>();
            declare(app, a->job.data, /*required=*/false);
            app.add_option("--max_steps", a->job.steps, "training steps of 32 texts")
                ->check(number_from(1));
            app.add_option("--qat_steps", a->job.qat_steps,
                           "training steps of each quantized model")
                ->check(number_from(1));
            declare(app, a->job.resume);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { demo(*a, app); };
          }};
}

}  // namespace hone
