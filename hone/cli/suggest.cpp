#include "hone/jobs/suggest.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

namespace hone {
namespace {

struct SuggestArguments {
  SuggestJob job;
  std::string format;
  CalibrationArguments calibration;
  RunArguments run;
};

void suggest(SuggestArguments& a) {
  Context context = make_context(a.run);
  a.job.format =
      value_of_flag("--format", [&] { return parse_format(a.format, context.library.formats); });
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  print("suggest", suggest_formats(a.job, context), a.run);
}

}  // namespace

Command suggest_command() {
  return {
      "suggest", "Find format parameters with less rounding error per layer",
      "hone suggest my-model --format 'integer(width=6,frac=3)' --data "
      "'synth:negation?seed=7&n=30000' -o recipe.toml",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<SuggestArguments>();
        app.add_option("MODEL", a->job.model, "model folder, not quantized")->required();
        app.add_option("--format", a->format, "format of all operands to start from")->required();
        app.add_option("--bits", a->job.bits, "maximum bits per value (0: those of --format)")
            ->check(number_from(0));
        app.add_option("--output,-o", a->job.recipe, "recipe file to write");
        app.add_flag("--overwrite", a->job.overwrite, "replace the file");
        declare_split(app, a->job.split, "split to report on; choices are made on validation");
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        declare(app, a->calibration);
        declare(app, a->run);
        return [a] { suggest(*a); };
      }};
}

}  // namespace hone
