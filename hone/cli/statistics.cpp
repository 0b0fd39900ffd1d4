#include "hone/jobs/statistics.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

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

Options options_of(const StatisticsArguments*) {
  using A = StatisticsArguments;
  return {model_argument<&A::job, &StatisticsJob::model>("model folder"),
          option<&A::job, &StatisticsJob::layers>("layers",
                                                  "operations to show; by default all with weights")
              .separated(),
          split_option<&A::job, &StatisticsJob::split>("split to measure on"),
          group<&A::job, &StatisticsJob::data>(required_data()),
          group<&A::job, &StatisticsJob::output>(),
          group<&A::run>(host_options()),
          group<&A::run>(device_option())};
}

}  // namespace

Command statistics_command() {
  return {.name = "statistics",
          .summary = "Show the distributions of weights and activations",
          .example = "hone statistics my-model --data 'synth:negation?seed=7&n=3000' -o statistics",
          .run = runs<StatisticsArguments, statistics>()};
}

}  // namespace hone
