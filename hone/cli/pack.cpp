#include "hone/jobs/pack.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct PackArguments {
  PackJob job;
  FormatArguments formats;
  RunArguments run;
};

void pack(PackArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  if (given(a.formats)) a.job.recipe = recipe_from(a.formats, context.library.formats);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("pack", pack_model(a.job, context), a.run);
}

struct UnpackArguments {
  UnpackJob job;
  std::string loadable;
  RunArguments run;
};

void unpack(UnpackArguments& a, const CLI::App& app) {
  a.job.invocation = invocation_of(app);
  a.job.loadable = !a.loadable.empty();
  Context context = make_context(a.run);
  print("unpack", unpack_model(a.job, context), a.run);
}

}  // namespace

Command pack_command() {
  return {"pack", "Store the weights of a quantized model in few bits",
          "hone pack my-model-int8 -o my-model-packed", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<PackArguments>();
            app.add_option("MODEL", a->job.model,
                           "model folder, quantized or with formats given here")
                ->required();
            declare(app, a->formats);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { pack(*a, app); };
          }};
}

Command unpack_command() {
  return {"unpack", "Store the weights of a packed model in fp32",
          "hone unpack my-model-packed -o my-model-dense",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<UnpackArguments>();
            app.add_option("MODEL", a->job.model, "folder written by `hone pack`")->required();
            app.add_option("--loadable", a->loadable,
                           "write plain fp32 weights that transformers loads")
                ->check(one_of({"transformers"}));
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { unpack(*a, app); };
          }};
}

}  // namespace hone
