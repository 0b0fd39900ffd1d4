#include "hone/jobs/allocation/allocate.h"

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
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
    throw UsageError("give --formats, --sparsities, or both: the options of each linear");
  Context context = make_context(a.run);
  const std::vector<Operand> operands =
      value_of_flag("--operands", [&] { return parse_operands(a.operands); });
  const auto parsed = [&] {
    return parse_options(
        a.options.empty() ? std::vector<std::string>() : split_outside_brackets(a.options),
        a.sparsities, operands, context.library.formats);
  };
  a.job.request.options = value_of_flag(a.options.empty() ? "--sparsities" : "--formats", parsed);
  a.job.request.budgets = value_of_flag("--budget", [&] { return parse_budgets(a.budgets); });
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.runs.batch_size = a.job.calibration.batch_size;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  print("allocate", allocate_formats(a.job, context), a.run);
}

void declare_allocation(CLI::App& app, AllocateArguments& a) {
  app.add_option("--formats", a.options, "formats to choose from, separated by commas");
  app.add_option("--sparsities", a.sparsities, "fractions of weights to prune, with every format")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(above_zero())
      ->check(number_from(0, 1));
  app.add_option("--operands", a.operands, "operands of a linear to quantize, separated by commas")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--budget", a.budgets, "average_bits<=N, packed_bytes<=N, latency_ms<=N")
      ->required()
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--same_format", a.job.request.together,
                 "linears that must share one format; may be repeated");
  app.add_option("--sensitivity_samples", a.job.request.sensitivity_samples,
                 "validation examples for the sensitivity of each layer (0: all)")
      ->check(number_from(0));
  app.add_option("--latency_batch_size", a.job.timed.texts, "batch size that latency_ms refers to")
      ->check(number_from(1, 1024));
  app.add_option("--latency_tokens", a.job.timed.tokens,
                 "tokens per example for latency_ms (0: average of validation)")
      ->check(number_from(0));
  app.add_option("--candidates", a.job.points, "solutions on the front to evaluate as whole models")
      ->check(number_from(1, 1000));
  app.add_option("--swaps", a.job.swaps,
                 "swaps of two layers to evaluate around the best one (0: none)")
      ->check(number_from(0, 1000));
}

}  // namespace

Command allocate_command() {
  return {
      "allocate", "Choose the best format of each layer within a limit",
      "hone allocate my-model --formats 'int(bits=8),mxint(bits=4)' --budget "
      "'average_bits<=5' --data 'synth:negation?seed=7&n=30000' -o allocation",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<AllocateArguments>();
        app.add_option("MODEL", a->job.model, "model folder, not quantized")->required();
        declare_allocation(app, *a);
        declare_split(app, a->job.split, "split to report on; choices are made on validation");
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        declare(app, a->calibration);
        app.add_flag("--no_cache", a->no_cache, "do not use or update the store of earlier runs");
        app.add_flag("--resume", a->job.resume, "continue an interrupted run, or start a new one");
        declare_row_hashes(app, a->job.row_hashes);
        declare(app, a->job.output);
        declare(app, a->run);
        return [a, &app] { allocate(*a, app); };
      }};
}

}  // namespace hone
