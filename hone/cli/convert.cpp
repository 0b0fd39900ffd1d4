#include "hone/jobs/convert.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct ConvertArguments {
  ConvertJob job;
  bool json = false, quiet = false;
};

void convert(const ConvertArguments& a) {
  RunArguments run;  // of the flags of all commands it has these two
  run.quiet = a.quiet;
  const ConvertResult result = convert_model(a.job, make_context(run));
  if (a.json) return print_result("convert", result.fields);
  print_text(run, "{}", result.text(text_style(run)));
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
