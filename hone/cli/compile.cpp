#include "hone/jobs/compile.h"

#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct CompileArguments {
  CompileJob job;
  BenchFlags flags;
  RunArguments run;
};

void compile(CompileArguments& a) {
  Context context = make_context(a.run);
  apply_flags(a.flags, "compile", context.library.formats, a.job.work.options);
  a.job.work.seed = a.run.seed;
  print("compile", compile(a.job, context), a.run);
}

Options options_of(const CompileArguments*) {
  using A = CompileArguments;
  return {
      model_argument<&A::job, &CompileJob::work, &BenchJob::model>(
          "model folder, tiny, base or resnet18"),
      adapter_option<&A::job, &CompileJob::work, &BenchJob::adapter>(),
      group<&A::job, &CompileJob::work, &BenchJob::options>(),
      group<&A::flags>(),
      option<&A::job, &CompileJob::explain>(
          "explain", "compare the time of each group with the interpreter and its floor")
          .rare(),
      option<&A::job, &CompileJob::runs>("runs", "number of timed runs for --explain")
          .from(static_cast<double>(kFewestForMedianInterval)),
      option<&A::job, &CompileJob::stages>("stages", "folder for the graphs and the generated code")
          .takes(kOutputFolderValue),
      overwrite_option<&A::job, &CompileJob::overwrite>("replace the files of --stages"),
      group<&A::run>(host_options()),
      group<&A::run>(cpu_precision_option())};
}

}  // namespace

Command compile_command() {
  return {.name = "compile",
          .summary = "Show the code generated for a model, and its speedup",
          .example = "hone compile tiny --train --batch_size 8 --tokens 128 --explain",
          .run = runs<CompileArguments, compile>(),
          .stage = {.measures_time = true}};
}

}  // namespace hone
