#include "hone/jobs/compare_formats.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct CompareFormatsArguments {
  CompareFormatsJob job;
  std::vector<std::string> choices;
  CalibrationArguments calibration;
  RunArguments run;
};

void compare_formats(CompareFormatsArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  for (const std::string& text : a.choices)
    a.job.choices.push_back(
        value_of_flag("--candidate", [&] { return parse_choice(text, context.library.formats); }));
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("compare-formats", compare_formats(a.job, context), a.run);
}

}  // namespace

Command compare_formats_command() {
  return {"compare-formats", "Evaluate a model in several number formats",
          "hone compare-formats my-model --data 'synth:negation?seed=7&n=30000' --candidate "
          "'mxint(bits=8)' --candidate ternary/none",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<CompareFormatsArguments>();
            app.add_option("MODEL", a->job.model, "model folder, not quantized")->required();
            app.add_option("--candidate", a->choices,
                           "a FORMAT or WEIGHTS/INPUTS to try; may be repeated")
                ->allow_extra_args(false);
            app.add_flag("--layers", a->job.layers, "also show every layer");
            declare_split(app, a->job.split, "split to report on; choices are made on validation");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->calibration);
            declare(app, a->job.output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { compare_formats(*a, app); };
          }};
}

}  // namespace hone
