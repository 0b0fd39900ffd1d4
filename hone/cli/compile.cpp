#include "hone/jobs/compile.h"

#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct CompileArguments {
  CompileJob job;
  BenchFlags flags;
  RunArguments run;
};

void compile(CompileArguments& a) {
  Context context = make_context(a.run);
  take(a.flags, "compile", context.library.formats, a.job.work.options);
  a.job.work.seed = a.run.seed;
  print("compile", compile(a.job, context), a.run);
}

}  // namespace

Command compile_command() {
  return {"compile",
          "Show the code generated for a model, and its speedup",
          "hone compile tiny --train --batch_size 8 --tokens 128 --explain",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<CompileArguments>();
            app.add_option("MODEL", a->job.work.model, "model folder, tiny, base or resnet18")
                ->required();
            declare_adapter(app, a->job.work.adapter);
            declare(app, a->flags, a->job.work.options);
            app.add_flag("--explain", a->job.explain,
                         "compare the time of each group with the interpreter and its floor");
            app.add_option("--runs", a->job.runs, "number of timed runs for --explain")
                ->check(number_from(static_cast<double>(kFewestForMedianInterval)));
            app.add_option("--stages", a->job.stages,
                           "folder for the graphs and the generated code");
            app.add_flag("--overwrite", a->job.overwrite, "replace the files of --stages");
            declare(app, a->run);
            declare_precision_of_processor(app, a->run);
            return [a] { compile(*a); };
          },
          {.measures_time = true}};
}

}  // namespace hone
