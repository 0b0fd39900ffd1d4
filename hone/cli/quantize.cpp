#include "hone/jobs/quantize.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct QuantizeArguments {
  QuantizeJob job;
  FormatArguments formats;
  CalibrationArguments calibration;
  RunArguments run;
};

void quantize(QuantizeArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.recipe = recipe_from(a.formats, context.library.formats);
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const QuantizeResult result = quantize_job(a.job, context);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  if (a.run.json) {
    print_result("quantize", result.fields);
  } else {
    print_text(a.run, "{}", result.text(text_style(a.run)));
  }
  if (a.job.max_drop_points) check_gate(result.verdict, result.part, a.run);
}

}  // namespace

Command quantize_command() {
  return {"quantize", "make a quantized copy of a model, and say what was lost",
          "hone quantize my-model --format 'integer(width=8,frac=4)' --data "
          "'synth:negation?seed=7&n=30000' -o my-model-int8",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<QuantizeArguments>();
            app.add_option("MODEL", a->job.model,
                           "model folder; of one that is quantized already, what is not yet")
                ->required();
            declare(app, a->formats);
            app.add_flag("--explain", a->job.explain,
                         "say where the accuracy is lost and what would do better; without it only "
                         "when half a point or more is lost");
            app.add_flag("--qat", a->job.qat, "train with the quantizers in place");
            app.add_option(
                   "--max_drop", a->job.max_drop_points,
                   "points of accuracy, or of what else the task is judged by, that may be lost: "
                   "exit code 3 unless the verdict is kept, "
                   "which means that the whole 95 % interval of the change lies above minus "
                   "them; docs/output.md and `hone schema` define kept, lost and unclear")
                ->check(number_from(0));
            declare(app, a->calibration);
            declare_split(app, a->job.split,
                          "part to measure on: train, validation, test or all; by default test, or "
                          "what was set aside when the model was trained on this data, or what "
                          "--validation_split sets aside");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->job.training);
            declare_report_to(app, a->job.report_to);
            declare(app, a->job.resume);
            declare_row_hashes(app, a->job.row_hashes);
            declare_seeds(app, a->job.seeds);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { quantize(*a, app); };
          }};
}

}  // namespace hone
