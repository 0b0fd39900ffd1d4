#include "hone/jobs/profile.h"

#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

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
  apply_flags(a.flags, "profile", context.library.formats, a.job.work.options);
  a.job.work.seed = a.run.seed;
  a.job.by_node = a.by == "node";
  a.job.invocation = invocation_of(app);
  print("profile", profile(a.job, context), a.run);
}

Options options_of(const ProfileArguments*) {
  using A = ProfileArguments;
  return {
      model_argument<&A::job, &ProfileJob::work, &BenchJob::model>("model folder, tiny or base"),
      adapter_option<&A::job, &ProfileJob::work, &BenchJob::adapter>(),
      group<&A::job, &ProfileJob::work, &BenchJob::options>(),
      group<&A::flags>(),
      option<&A::job, &ProfileJob::work, &BenchJob::options, &BenchOptions::runs>(
          "runs", "number of recorded runs (0: chosen by their time)")
          .from(0),
      option<&A::by>("by", "a row per kernel, or per node").one_of({"kernel", "node"}),
      option<&A::job, &ProfileJob::rows>("top", "rows to print (0: all)").from(0),
      group<&A::job, &ProfileJob::output>(report_output()),
      group<&A::run>(),
      group<&A::run>(executor_option())};
}

}  // namespace

Command profile_command() {
  return {.name = "profile",
          .summary = "Profile the operations of a model",
          .example = "hone profile tiny --batch_size 8 --tokens 128 --train -o my-profile",
          .run = runs<ProfileArguments, profile>()};
}

}  // namespace hone
