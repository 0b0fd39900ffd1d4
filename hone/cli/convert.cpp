#include "hone/jobs/convert.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct ConvertArguments {
  ConvertJob job;
  bool json = false, quiet = false;
};

void convert(const ConvertArguments& a) {
  RunArguments run;  // the command supports only these two of them
  run.quiet = a.quiet;
  run.json = a.json;
  print("convert", convert_model(a.job, make_context(run)), run);
}

}  // namespace

Command convert_command() {
  return {"convert", "Convert the weights of a model folder to safetensors",
          "hone convert old-model -o new-model", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ConvertArguments>();
            app.add_option("MODEL", a->job.model, "model folder of any architecture, or a hub name")
                ->required();
            declare(app, a->job.output);
            app.add_flag("--json", a->json, "print the result as JSON");
            app.add_flag("--quiet", a->quiet, "do not show progress");
            return [a] { convert(*a); };
          }};
}

}  // namespace hone
