#include "hone/jobs/profile.h"

#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct ProfileArguments {
  ProfileJob job;
  BenchFlags flags;
  std::string by = "kernel";
  RunArguments run;
};

void profile(ProfileArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  take(a.flags, "profile", context.library.formats, a.job.work.options);
  a.job.work.seed = a.run.seed;
  a.job.by_node = a.by == "node";
  a.job.invocation = invocation_of(app);
  print("profile", profile(a.job, context), a.run);
}

}  // namespace

Command profile_command() {
  return {"profile", "Show where the time of a model goes",
          "hone profile tiny --batch_size 8 --tokens 128 --train -o my-profile",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ProfileArguments>();
            app.add_option("MODEL", a->job.work.model, "model folder, tiny or base")->required();
            declare_adapter(app, a->job.work.adapter);
            declare(app, a->flags, a->job.work.options);
            app.add_option("--runs", a->job.work.options.runs,
                           "number of recorded runs (0: chosen by their time)")
                ->check(number_from(0));
            app.add_option("--by", a->by, "a row per kernel, or per node")
                ->check(one_of({"kernel", "node"}));
            app.add_option("--top", a->job.rows, "rows to print (0: all)")->check(number_from(0));
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            declare_device_and_executor(app, a->run);
            return [a, &app] { profile(*a, app); };
          }};
}

}  // namespace hone
