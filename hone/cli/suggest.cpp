#include "hone/jobs/suggest.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
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
  const SuggestResult result = suggest_formats(a.job, context);
  if (a.run.json) return print_result("suggest", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
  if (a.job.recipe.empty()) print_text(a.run, "--output FILE writes them as a recipe.\n");
}

}  // namespace

Command suggest_command() {
  return {"suggest", "find better parameters of a format, layer by layer",
          "hone suggest my-model --format 'integer(width=6,frac=3)' --data "
          "'synth:negation?seed=7&n=30000' -o recipe.toml",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<SuggestArguments>();
            app.add_option("MODEL", a->job.model, "model folder; not quantized")->required();
            app.add_option("--format", a->format,
                           "of inputs, weights and biases of its linears, to begin from")
                ->required();
            app.add_option("--bits", a->job.bits, "most bits per value; 0: as many as it has")
                ->check(number_from(0));
            app.add_option("--output,-o", a->job.recipe, "recipe to write");
            app.add_flag("--overwrite", a->job.overwrite, "replace what --output names");
            declare_split(app, a->job.split,
                          "part on which the suggestions are measured once: train, validation, "
                          "test or all; they are judged on the validation part");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->calibration);
            declare(app, a->run);
            return [a] { suggest(*a); };
          }};
}

}  // namespace hone
