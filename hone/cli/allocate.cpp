#include "hone/jobs/allocation/allocate.h"

#include "hone/base/cache_folder.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct AllocateArguments {
  AllocateJob job;
  std::string options;
  std::vector<double> sparsities;
  bool no_cache = false;
  std::vector<std::string> operands = {"input", "weight", "bias"};
  std::vector<std::string> budgets;
  CalibrationArguments calibration;
  RunArguments run;
};

void allocate(AllocateArguments& a, const CLI::App& app) {
  if (a.options.empty() && a.sparsities.empty())
    throw UsageError("give --options, --sparsities, or both: what each linear may take");
  Context context = make_context(a.run);
  const std::vector<Operand> operands =
      value_of_flag("--operands", [&] { return parse_operands(a.operands); });
  const auto parsed = [&] {
    return parse_options(
        a.options.empty() ? std::vector<std::string>() : split_outside_brackets(a.options),
        a.sparsities, operands, context.library.formats);
  };
  a.job.request.options = value_of_flag(a.options.empty() ? "--sparsities" : "--options", parsed);
  a.job.request.budgets = value_of_flag("--budget", [&] { return parse_budgets(a.budgets); });
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.runs.batch_size = a.job.calibration.batch_size;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  const AllocateResult result = allocate_formats(a.job, context);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  if (a.run.json) return print_result("allocate", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

void declare_allocation(CLI::App& app, AllocateArguments& a) {
  app.add_option("--options", a.options,
                 "formats that each linear may take, by comma; none is full precision, which is "
                 "all there is without them");
  app.add_option("--sparsities", a.sparsities,
                 "shares of a linear's weights that may go, the smallest, by comma, in every "
                 "format; that none goes is an option too")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(above_zero())
      ->check(number_from(0, 1));
  app.add_option("--operands", a.operands,
                 "what of a linear takes them, by comma: input, weight, bias; the others stay in "
                 "full precision")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--budget", a.budgets,
                 "average_bits<=NUMBER of a weight of the linears, packed_bytes<=NUMBER of all "
                 "weights, latency_ms<=NUMBER of a text on this machine, or some of them by comma")
      ->required()
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--together", a.job.request.together,
                 "linears that this glob names take the same format; may be repeated");
  app.add_option("--sensitivity_samples", a.job.request.sensitivity_samples,
                 "texts of the validation part, drawn by --seed, that each layer alone is measured "
                 "on; 0: all")
      ->check(number_from(0));
  app.add_option("--latency_texts", a.job.timed.texts, "texts at a time that latency_ms is of")
      ->check(number_from(1, 1024));
  app.add_option("--latency_tokens", a.job.timed.tokens,
                 "of each of these texts; 0: as many as texts of the validation part have on "
                 "average")
      ->check(number_from(0));
  app.add_option("--points", a.job.points, "of the front, that are measured as whole models")
      ->check(number_from(1, 1000));
  app.add_option("--swaps", a.job.swaps,
                 "of two layers around the best of them that are measured too; 0: none")
      ->check(number_from(0, 1000));
}

}  // namespace

Command allocate_command() {
  return {"allocate", "choose each layer's format within a budget, exactly",
          "hone allocate my-model --options 'int(bits=8),mxint(bits=4)' --budget "
          "'average_bits<=5' --data 'synth:negation?seed=7&n=30000' -o allocation",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<AllocateArguments>();
            app.add_option("MODEL", a->job.model, "model folder; not quantized")->required();
            declare_allocation(app, *a);
            declare_split(app, a->job.split,
                          "part on which the chosen model is measured once: train, validation, "
                          "test or all; choices are made on the validation part");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->calibration);
            app.add_flag("--no_cache", a->no_cache,
                         "compute everything, and keep nothing for later ones");
            app.add_flag("--resume", a->job.resume,
                         "go on where an interrupted run stood; begin where there is none");
            declare_row_hashes(app, a->job.row_hashes);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { allocate(*a, app); };
          }};
}

}  // namespace hone
