#include "hone/base/cache_folder.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/setting_arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/stage_commands.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/pipeline/pipeline_report.h"

namespace hone {
namespace {

struct PipelineArguments {
  std::string file, variant;
  std::vector<std::string> settings;
  bool resume = false, dry_run = false, no_cache = false;
  JobOutput output;
  RunArguments run;
};

void print_plan(const std::vector<PlannedStage>& stages, const RunArguments& run) {
  if (run.json) return print_result("run", to_json(PipelinePlanFields{stages}));
  std::string text;
  for (const PlannedStage& stage : stages)
    text += fmt::format("{}\n  {}\n", stage.name, stage.command_line);
  print_text(run, "{}", text);
}

void check_gates(const PipelineFields& fields) {
  if (!fields.failed_gates.empty())
    throw GateFailure("gates not passed: " + fields.failed_gates_text());
}

void run_file(PipelineArguments& a, const CLI::App& app) {
  PipelineJob job{.pipeline = parse_pipeline(read_file(a.file), a.file, stage_kinds(),
                                             given_settings(a.settings), a.variant),
                  .output = a.output,
                  .resume = a.resume,
                  .store = {},
                  .arguments = stage_arguments(a.run),
                  .invocation = invocation_of(app)};
  forward_options(job.pipeline, device_options(), app);
  const StageCommands commands = stage_commands();
  if (a.dry_run) return print_plan(plan_pipeline(job.pipeline, commands), a.run);
  if (a.output.folder.empty())
    throw UsageError("--output_dir is required; --dry_run shows what would run");
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    job.store = cache / "stages";
  Context context = make_context(a.run);
  const JobResult result = run_pipeline(job, commands, context);
  print("run", result, a.run);
  check_gates(from_json<PipelineFields>(result.fields));
}

Options options_of(const PipelineArguments*) {
  using A = PipelineArguments;
  return {argument<&A::file>("PIPELINE", "TOML file of stages").required().takes(kReadFileValue),
          option<&A::settings>("set", "override a value of the pipeline's [settings]")
              .repeated()
              .shown("NAME=VALUE"),
          option<&A::variant>("variant", "variant of the pipeline to run"),
          option<&A::dry_run>("dry_run", "check everything and print the commands only"),
          resume_option<&A::resume>(),
          no_cache_option<&A::no_cache>(),
          group<&A::output>(report_output()),
          group<&A::run>(output_options()),
          group<&A::run>(device_options())};
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "Run a pipeline of commands from a TOML file",
          .example = "hone run compress.toml --set steps=20 -o compressed",
          .run = runs<PipelineArguments, run_file>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
