#include "hone/jobs/sensitivity.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct SensitivityArguments {
  SensitivityJob job;
  std::string formats;
  std::vector<double> sparsities;
  CalibrationArguments calibration;
  RunArguments run;
};

std::vector<LayerChange> changes_of(const SensitivityArguments& a, const FormatTable& formats) {
  std::vector<LayerChange> changes;
  if (!a.formats.empty())
    for (const std::string& text : split_outside_brackets(a.formats))
      changes.push_back({.label = text,
                         .formats = LayerFormats::reads(value_of_flag(
                             "--formats", [&] { return parse_format(text, formats); }))});
  for (const double sparsity : a.sparsities)
    changes.push_back({.label = fmt::format("{:g}% pruned", 100 * sparsity), .sparsity = sparsity});
  user_check(!changes.empty(),
             "nothing to change layers to: give `formats` ('bf16,int(bits=8)') or `sparsities` "
             "(0.3,0.5)");
  return changes;
}

void sensitivity(SensitivityArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.changes = changes_of(a, context.library.formats);
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.runs.batch_size = a.job.calibration.batch_size;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("sensitivity", measure_sensitivity(a.job, context), a.run);
}

}  // namespace

Command sensitivity_command() {
  return {"sensitivity", "Measure how each layer reacts to a format or to pruning",
          "hone sensitivity my-model --formats 'bf16,mxint(bits=4)' --data "
          "'synth:negation?seed=7&n=30000' -o sensitivity",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<SensitivityArguments>();
            app.add_option("MODEL", a->job.model, "model folder, not quantized")->required();
            app.add_option("--formats", a->formats,
                           "formats to try on each layer, separated by commas");
            app.add_option("--sparsities", a->sparsities,
                           "fractions of each layer's weights to remove")
                ->allow_extra_args(false)
                ->delimiter(',')
                ->check(above_zero(1));
            declare_split(app, a->job.split, "split to measure on");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->calibration);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { sensitivity(*a, app); };
          }};
}

}  // namespace hone
