#include "hone/jobs/statistics.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct StatisticsArguments {
  StatisticsJob job;
  RunArguments run;
};

void statistics(StatisticsArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("statistics", measure_statistics(a.job, context), a.run);
}

}  // namespace

Command statistics_command() {
  return {"statistics", "Show the distributions of weights and activations",
          "hone statistics my-model --data 'synth:negation?seed=7&n=3000' -o statistics",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<StatisticsArguments>();
            app.add_option("MODEL", a->job.model, "model folder")->required();
            app.add_option("--layers", a->job.layers,
                           "operations to show; by default all with weights")
                ->allow_extra_args(false)
                ->delimiter(',');
            declare_split(app, a->job.split, "split to measure on");
            declare(app, a->job.data, /*required=*/true);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { statistics(*a, app); };
          }};
}

}  // namespace hone
